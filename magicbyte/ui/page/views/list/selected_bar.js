/** The actions on the selected subjects: compare two, export, delete. */
import { heldVersions, holdersOf } from "../../api/holders.js";
import * as registry from "../../api/registry.js";
import { hasOverview } from "../../api/features.js";
import { splitSubject } from "../../text/split_subject.js";
import { listingRow } from "../../state/listing_columns.js";
import { Button, LinkButton } from "../../parts/buttons.js";
import { Shown } from "../../parts/hostile.js";
import { toast } from "../../parts/toasts.js";
import { useRequest } from "../../parts/use_request.js";
import { useRights } from "../../parts/use_rights.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { context, may } from "../../state/signals.js";
import { counted } from "../../text/counted.js";
import { html, useRef } from "../../vendor/ui.js";
import { HeldBy, heldReason, refusalWords } from "../subject/held_by.js";
import { exportSubjects } from "./exporting.js";

/** @import { Holder } from "../../api/holders.js" */

/** The most selected subjects whose holders are requested. */
const MOST_ASKED = 20;

/** @param {{listing: import("../../api/types.d.ts").Overview, selected: Set<string>, onClear: () => void}} props */
export const SelectedBar = (props) => props.selected.size > 0 && html`<${Bar} ...${props} />`;

/** @param {{listing: import("../../api/types.d.ts").Overview, selected: Set<string>, onClear: () => void}} props */
function Bar({ listing, selected, onClear }) {
  const subjects = [...selected];
  const held = useHolders(subjects);
  useRights(subjects.map(nameHere));
  const rows = subjects.flatMap((subject) => listingRow(listing, listing.subject.indexOf(subject)) ?? []);
  const forbidden = subjects.map((subject) => may("delete", nameHere(subject)).reason).find(Boolean) ?? "";
  const gone = rows.every((row) => row.deleted) ? "All of them are deleted already." : "";
  const reason = forbidden || gone || heldReason(held.flatMap(({ holders }) => holders));
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
        ${held.map(({ subject, holders }) =>
          html`
            <p class="held-line s" key=${subject}>
              <span class="mono anywhere"><${Shown} name text=${subject} /></span>${": "}<${HeldBy} holders=${holders} /></p>
          `
        )}
      </div>
  `;
}

/** @param {string} subject */
const nameHere = (subject) => {
  const { context: other, name } = splitSubject(subject);
  return other === context.value ? name : subject;
};

/**
 * The selected subjects that other subjects refer to, with their holders. Requests each subject's holders once.
 * Selected holders do not count: they are deleted as well.
 * @param {string[]} subjects with their contexts
 * @returns {{subject: string, holders: Holder[]}[]}
 */
function useHolders(subjects) {
  const asked = useRef(/** @type {Map<string, Promise<any>>} */ (new Map()));
  const request = useRequest(async () => {
    const some = subjects.slice(0, MOST_ASKED);
    return await Promise.all(some.map(async (subject) => {
      const answer = asked.current.get(subject) ?? heldVersions(nameHere(subject)).catch(() => null);
      asked.current.set(subject, answer);
      const held = await answer;
      return { subject, holders: held ? holdersOf(held, subject, null, false) : [] };
    }));
  }, subjects);
  return (request.data ?? []).map(({ subject, holders }) => ({
    subject,
    holders: holders.filter((holder) => !subjects.includes(holder.subject)),
  })).filter(({ holders }) => holders.length > 0);
}

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

/** Soft-deletes subjects, with Undo. @param {string[]} subjects */
async function deleteSubjects(subjects) {
  const { done, failed } = await deleted(subjects);
  for (const { subject, error } of failed) toast(`${subject} was not deleted: ${refusalWords(error)}`);
  if (done.length === 0) return;
  const undo = async () => {
    try {
      for (const subject of [...done].reverse()) await registry.undelete(nameHere(subject));
      toast(`${counted(done.length, "subject")} restored`);
    } catch (error) {
      toast(/** @type {Error} */ (error).message);
    }
  };
  toast(done.length === 1 ? `${done[0]} deleted` : `${counted(done.length, "subject")} deleted`, {
    action: { label: "Undo", onClick: undo },
  });
}

/** The code of a deletion that holders block. */
const HELD = 42206;

/**
 * Deletes as many subjects as possible. Retries a held subject after others have been deleted.
 * @param {string[]} subjects
 */
async function deleted(subjects) {
  /** @type {string[]} */
  const done = [];
  /** @type {{subject: string, error: any}[]} */
  let failed = [];
  for (let rest = subjects; rest.length > 0;) {
    const before = done.length;
    failed = failed.filter(({ error }) => error.code !== HELD);
    for (const subject of rest) {
      try {
        await registry.deleteSubject(nameHere(subject));
        done.push(subject);
      } catch (error) {
        failed.push({ subject, error });
      }
    }
    rest = done.length > before ? failed.filter(({ error }) => error.code === HELD).map(({ subject }) => subject) : [];
  }
  return { done, failed };
}
