/** A row of Evolution: the version, its changes, its compatibility. */

import { Badge, VerdictBadge } from "../../parts/badges.js";
import { LinkButton } from "../../parts/buttons.js";
import { Shown } from "../../parts/hostile.js";
import { Id, Time } from "../../parts/times.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { html } from "../../vendor/ui.js";

/** @import { Row } from "./rows.js" */

/** @param {{row: Row, subject: string, undelete: any, compared: boolean, waiting: boolean}} props
 *  `compared`: whether the registry returns comparisons */
export function VersionRow({ row, subject, undelete, compared, waiting }) {
  const { version, id, ts, latest, deleted, step, before } = row;
  return html`
    <li class=${deleted ? "version-row deleted" : "version-row"} data-key=${`v${version}`}>
      <div class="version-name">
          <a class=${deleted ? "struck" : ""} href=${href(
            path`/subjects/${subject}/versions/${version}`,
          )}><b>Version ${version}</b></a>
          ${latest && html`<${Badge} tone="line">latest</${Badge}>`}
          ${deleted && html`<${Badge} tone="bad">deleted</${Badge}>`}
          <span class="xs dim"><${Id} id=${id} href=${href(path`/schemas/ids/${id}`)} /> · <${Time} ms=${ts} /></span>
        </div>
      <div class="version-changes s mono">${compared && changesOf(row, subject, waiting)}</div>
      <div class="version-verdicts">
          ${step && !step.error && before !== null && html`
            <${VerdictBadge} ok=${step.backward.compatible} text=${`reads v${before}`} />
            <${VerdictBadge} ok=${step.forward.compatible} text=${`v${before} reads it`} />
          `}
        </div>
      <div class="version-act">
          ${deleted ? undelete.button(version, "small") : before !== null && html`
            <${LinkButton} kind="small"
              href=${href(path`/subjects/${subject}/compare`, { from: before, to: version })}>
                    Compare<span class="hidden-text"> ${before} to ${version}</span></${LinkButton}>
          `}
        </div>
    </li>
  `;
}

/** @param {Row} row @param {string} subject @param {boolean} waiting */
function changesOf({ version, step, before, isOldest, changes, more, deleted }, subject, waiting) {
  if (waiting && !step && (before !== null || isOldest)) return html`<span class="faint">...</span>`;
  if (step?.error) return html`<span class="dim"><${Shown} text=${step.error.message} /></span>`;
  if (!step) {
    if (deleted) return "";
    if (before !== null) return html`<span class="faint prose">not compared</span>`;
    return html`<span class="faint prose">${isOldest ? "the first version" : "no live version before it"}</span>`;
  }
  if (changes.length === 0) return html`<span class="faint prose">no change of a field</span>`;
  return html`${
    changes.map((change, index) => html`<span class="short-change" key=${index}><${Shown} text=${change} /></span>`)
  }${
    more > 0 &&
    html`<a class="link prose" href=${
      href(path`/subjects/${subject}/compare`, { from: before, to: version })
    }>and ${more} more</a>`
  }`;
}
