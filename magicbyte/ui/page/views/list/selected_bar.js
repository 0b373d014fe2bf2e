/** What can be done with the selected subjects: compare two, export, delete. */
import * as registry from "../../api/registry.js";
import { hasOverview } from "../../api/features.js";
import { listingRow, splitSubject } from "../../state/listing_columns.js";
import { Button, LinkButton } from "../../parts/buttons.js";
import { toast } from "../../parts/toasts.js";
import { href, path } from "../../state/routes.js";
import { context, may } from "../../state/signals.js";
import { html } from "../../vendor/ui.js";
import { counted } from "../compare/words.js";
import { exportSubjects } from "./exporting.js";

/** @param {{listing: import("../../state/types.d.ts").Overview, selected: Set<string>, onClear: () => void}} props */
export function SelectedBar({ listing, selected, onClear }) {
  if (selected.size === 0) return null;
  const subjects = [...selected];
  const rows = subjects.flatMap((subject) => listingRow(listing, listing.subject.indexOf(subject)) ?? []);
  const reason = subjects.map((subject) => may("delete", nameHere(subject)).reason).find(Boolean) ??
    (rows.every((row) => row.deleted) ? "All of them are deleted already." : "");
  const compare = compareAddress(rows);
  const remove = async () => {
    onClear();
    await deleteSubjects(rows.filter((row) => !row.deleted).map((row) => row.subject));
  };
  return html`
    <div class="selected-bar" role="region" aria-label="Selected subjects">
      <span class="num s">${counted(subjects.length, "subject")} selected</span>
      <${LinkButton} kind="small" href=${compare} reason=${compare
        ? ""
        : "Compare takes two subjects, or one with two versions."}>Compare</${LinkButton}>
        ${hasOverview() && html`<${Button} kind="small" onClick=${() => exportSubjects(subjects)}>Export</${Button}>`}
        <${Button} kind="small danger" reason=${reason} onClick=${remove}>Delete</${Button}>
        <${Button} kind="small quiet" onClick=${onClear}>Clear</${Button}>
      </div>
  `;
}

/** @param {string} subject */
const nameHere = (subject) => {
  const { context: other, name } = splitSubject(subject);
  return other === context.value ? name : subject;
};

/** @param {import("../../state/types.d.ts").Facts[]} rows */
function compareAddress(rows) {
  if (rows.length === 1 && rows[0].versions > 1) return href(path`/subjects/${nameHere(rows[0].subject)}/compare`);
  if (rows.length !== 2) return "";
  const [from, to] = rows;
  return href(path`/subjects/${nameHere(to.subject)}/compare`, {
    fromSubject: nameHere(from.subject),
    from: from.version ?? "latest",
    to: to.version ?? "latest",
  });
}

/** Deletes softly, with Undo. @param {string[]} subjects */
async function deleteSubjects(subjects) {
  /** @type {string[]} */
  const done = [];
  for (const subject of subjects) {
    try {
      await registry.deleteSubject(nameHere(subject));
      done.push(subject);
    } catch (error) {
      toast(`${subject} was not deleted: ${/** @type {Error} */ (error).message}`);
    }
  }
  if (done.length === 0) return;
  const undo = async () => {
    try {
      for (const subject of done) await registry.undelete(nameHere(subject));
      toast(`${counted(done.length, "subject")} restored`);
    } catch (error) {
      toast(/** @type {Error} */ (error).message);
    }
  };
  toast(done.length === 1 ? `${done[0]} deleted` : `${done.length} subjects deleted`, {
    action: { label: "Undo", onClick: undo },
  });
}
