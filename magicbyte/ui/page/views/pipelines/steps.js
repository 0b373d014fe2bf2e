/** The state of a pipeline's stateful steps. */
import { Card } from "../../parts/cards.js";
import { Shown } from "../../parts/hostile.js";
import { html } from "../../vendor/ui.js";
import { grouped } from "../../text/grouped.js";
import { Scrolled } from "../../parts/scrolled.js";

/** @param {{pipeline: import("../../api/pipelines.js").Pipeline}} props */
export function Steps({ pipeline: { figures } }) {
  const steps = figures?.steps ?? [];
  if (steps.length === 0) return null;
  const number = (/** @type {number | null} */ value) => value === null ? "" : grouped(value);
  return html`
    <${Card} title="Steps that remember rows" bare>
      <${Scrolled} label="Steps that remember rows">
        <table>
          <thead>
            <tr>
              <th scope="col">Operator of Spark</th>
              <th scope="col" class="r">Rows</th>
              <th scope="col" class="r">Bytes</th>
              <th scope="col" class="r">Late rows</th>
            </tr>
          </thead>
          <tbody>${steps.map(({ operator, rows, bytes, late }) =>
            html`
              <tr key=${operator}>
                <td class="mono anywhere">
                  <${Shown} text=${operator} />
                </td>
                <td class="r num">${number(rows)}</td>
                <td class="r num">${number(bytes)}</td>
                <td class="r num">${number(late)}</td>
              </tr>
            `
          )}</tbody>
        </table>
        </${Scrolled}>
        </${Card}>
  `;
}
