/** Export, and import with a dry run first. */
import { curl } from "../../api/curl.js";
import * as registry from "../../api/registry.js";
import { Button } from "../../parts/buttons.js";
import { Card, Note } from "../../parts/cards.js";
import { copy } from "../../parts/copying.js";
import { visibly } from "../../parts/gap.js";
import { toast } from "../../parts/toasts.js";
import { readListing } from "../../state/live_listing.js";
import { may } from "../../state/signals.js";
import { html, useId, useState } from "../../vendor/ui.js";
import { exportAll } from "../list/exporting.js";
import { grouped } from "../../text/grouped.js";

const MOST_REFUSALS = 20;

export function Transfer() {
  const [file, setFile] = useState(/** @type {File | null} */ (null));
  const [handWritten, setHandWritten] = useState(false);
  const [report, setReport] = useState(/** @type {any} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState("");
  const id = useId();
  const { reason } = may("import");

  const choose = async (/** @type {any} */ event) => {
    const chosen = event.currentTarget.files[0] ?? null;
    setFile(chosen);
    setReport(null);
    setError(null);
    if (!chosen) return;
    const byHand = !(await hasEnd(chosen));
    setHandWritten(byHand);
    await run(chosen, byHand, true);
  };
  const run = async (/** @type {File} */ chosen, /** @type {boolean} */ byHand, /** @type {boolean} */ dryRun) => {
    setBusy(dryRun ? "Trying it..." : "Importing...");
    setError(null);
    try {
      const answer = await registry.importLines(chosen, { dryRun, handWritten: byHand });
      setReport({ ...answer, dryRun });
      if (!dryRun) {
        toast(`${written(answer)} imported from ${chosen.name}`);
        readListing();
      }
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy("");
    }
  };
  const request = {
    method: "POST",
    path: "/import",
    query: { dryRun: true, lines: handWritten },
    headers: { "Content-Type": "application/x-ndjson" },
    body: "@export.ndjson",
  };
  const nothing = report && written(report) === 0;
  return html`
    <${Card} title="Export and import" aside=${html`<${Button} kind="small quiet" onClick=${() =>
      copy(curl(request), "curl command copied")}>Copy as curl</${Button}>`}>
      <div class="stack">
        <p class="dim s">All versions${visibly()}, with their ids, configs and modes, as lines of JSON.</p>
        <div>
          <${Button} onClick=${exportAll}>Export everything</${Button}></div>
          <div class="field">
            ${reason
              ? html`
                <div>
                  <${Button} reason=${reason}>Import a file</${Button}></div>
              `
              : html`
                <label for=${id}>Import a file</label>
                <input class="input" id=${id} type="file" accept=".ndjson,.jsonl,.json,.txt" onChange=${choose} />
              `}
            <span class=${reason ? "xs warn-text" : "xs faint"}>${reason ||
              "It is tried first; nothing is written until you say so."}</span>
          </div>
          <div aria-live="polite" class="stack">
            ${busy && html`<p class="s dim">${busy}</p>`}
            ${error && html`<${Note} tone="bad" who="Not taken" rule=${error.code || ""}>${error.message}</${Note}>`}
            ${report && html`<${Report} report=${report} />`}
            ${report?.dryRun && file && !busy && html`
              <div class="row wrap">
                <${Button} kind="primary" reason=${nothing ? "Everything is there already." : ""} onClick=${() =>
                  run(file, handWritten, false)}>Import ${grouped(written(report))}</${Button}></div>
            `}
          </div>
        </div>
      </${Card}>
  `;
}

/** @param {{report: any}} props */
function Report({ report }) {
  const { imported, known, refused, dryRun, warnings = [] } = report;
  const kinds = Object.entries(imported).map(([kind, count]) => `${kind} ${count}`).join(", ");
  return html`<${Note} tone=${refused.length > 0 ? "warn" : "ok"} who=${dryRun ? "Tried, nothing written" : "Imported"}>
    <p>${kinds || "Nothing"} ${
    dryRun ? "would be written" : "written"
  }; ${known} there already; ${refused.length} refused.</p>
    ${warnings.map((/** @type {string} */ text) => html`<p key=${text}>${text}</p>`)}
    ${
    refused.slice(0, MOST_REFUSALS).map((/** @type {any} */ line) =>
      html`<p class="mono xs" key=${line.line}>line ${line.line}: ${line.message}</p>`
    )
  }
    ${refused.length > MOST_REFUSALS && html`<p class="xs faint">and ${refused.length - MOST_REFUSALS} more</p>`}
  </${Note}>`;
}

/** The number of lines that were written, or that a dry run would write. @param {any} report @returns {number} */
const written = (report) =>
  Object.values(report.imported).reduce((/** @type {number} */ sum, count) => sum + Number(count), 0);

/** Whether a file has the closing line of an export. @param {File} file */
async function hasEnd(file) {
  const tail = await file.slice(Math.max(0, file.size - 400)).text();
  return tail.trimEnd().split("\n").at(-1)?.includes('"kind":"end"') ?? false;
}
