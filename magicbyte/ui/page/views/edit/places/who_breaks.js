/**
 * The card 'Who breaks': one row for each version, one cell for each direction; cells that the level checks are
 * outlined.
 */
import { gapFact } from "../../../api/fact.js";
import { GapWords } from "../../../parts/gap.js";
import { counted } from "../../../text/counted.js";
import { html, useState } from "../../../vendor/ui.js";
import { LEVELS, meaning } from "./levels.js";
import { ROWS, rowsOf } from "./matrix.js";

/**
 * @param {{
 *   check: import("./check.d.ts").Check, versions: number[], next: number,
 *   isNamed: boolean, level: string, onLevel: (level: string) => void,
 * }} props
 */
export function WhoBreaks({ check, versions, next, isNamed, level, onLevel }) {
  const [all, setAll] = useState(false);
  const rows = rowsOf(check.checked?.explanations ?? [], versions, level);
  const missing = check.failure && gapFact(check.failure);
  const shown = all ? rows : rows.slice(0, ROWS);
  return html`
    <section class="card who" aria-labelledby="who-breaks" aria-busy=${check.checking}>
      <div class="row who-head">
        <h2 id="who-breaks" class="grow">Who breaks</h2>
        <label class="row xs dim">
          if the level were
          <select class="mono" value=${level} onChange=${(/** @type {any} */ event) => onLevel(event.target.value)}>
            ${level === "" && html`<option value="">unknown</option>`}
            ${LEVELS.map((name) => html`<option value=${name}>${name}</option>`)}
          </select>
        </label>
      </div>
      <div class=${`scroll ${check.invalid ? "stale" : ""}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Against</th>
              <th scope="col">Version ${next} reads its data</th>
              <th scope="col">It reads version ${next}'s data</th>
            </tr>
          </thead>
          <tbody>
            ${shown.map((row) =>
              html`
                <tr key=${row.version}>
                  <th scope="row">Version ${row.version} ${row.latest &&
                    html`<span class="faint xs">latest</span>`}</th>
                  <td>
                    <${Cell} cell=${row.backward} ready=${check.checked !== null} missing=${missing} />
                  </td>
                  <td>
                    <${Cell} cell=${row.forward} ready=${check.checked !== null} missing=${missing} />
                  </td>
                </tr>
              `
            )}
          </tbody>
        </table>
      </div>
      ${rows.length > shown.length && html`
        <p class="who-more">
          <button class="btn quiet" type="button" onClick=${() => setAll(true)}>Show all ${counted(
            rows.length,
            "version",
          )}</button>
        </p>
      `}
      <p class="xs faint who-foot">
        ${missing
          ? html`<${GapWords} fact=${missing} />`
          : !isNamed
          ? "The subject has no name yet. With one, its versions are compared."
          : rows.length === 0
          ? "The first version: nobody reads or writes this subject yet."
          : meaning(level, rows.length)}
        ${check.checked?.cut &&
          " There are more versions or findings than one check may compare: the oldest are left out."}
      </p>
    </section>
  `;
}

/** @param {{cell: import("./matrix.js").Cell, ready: boolean, missing: import("../../../api/fact.js").Fact<any> | null}} props */
function Cell({ cell: { places, asked }, ready, missing }) {
  if (missing) return html`<${GapWords} fact=${missing} />`;
  const need = asked ? "need" : "";
  if (!ready) return html`<span class=${`cell faint ${need}`}>...</span>`;
  const word = places === 0 ? "✓ reads all" : `✕ ${counted(places, "place")}`;
  return html`
    <span class=${`cell ${places === 0 ? "ok" : "bad"} ${need}`}>
      ${word}${asked && html`<span class="hidden-text">, asked for by the level</span>`}
    </span>
  `;
}
