/** The versions as a strip of dots, oldest first, with lines that show their compatibility. */

import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { html, useLayoutEffect, useRef } from "../../vendor/ui.js";
import { compatibilityWords } from "./rows.js";

/** @import { Row } from "./rows.js" */

/** @param {{rows: Row[], subject: string}} props */
export function Strip({ rows, subject }) {
  const oldestFirst = [...rows].reverse();
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  // Scroll to the latest version at first, and again when a new version arrives.
  useLayoutEffect(() => {
    if (list.current) list.current.scrollLeft = list.current.scrollWidth;
  }, [rows[0]?.version]);
  return html`
    <div class="strip-box">
      <ol class="dots" ref=${list} aria-label="Versions and how they are joined" tabindex="0">
          ${oldestFirst.map((row, index) =>
            html`<${Dot} row=${row} first=${index === 0} subject=${subject} key=${row.version} />`
          )}
        </ol>
      <p class="legend xs dim">
        <span><i class="bond both"></i>both read each other</span>
        <span><i class="bond half"></i>one reads the other</span>
        <span><i class="bond none"></i>neither does</span>
      </p>
    </div>
  `;
}

/** @param {{row: Row, first: boolean, subject: string}} props */
function Dot({ row, first, subject }) {
  const { version, deleted, before, compatibility } = row;
  const joinedTo = !first && before !== null;
  return html`<li>
    ${
    !first && (joinedTo
      ? html`
        <a class=${`bond ${compatibility}`} href=${href(path`/subjects/${subject}/compare`, {
          from: before,
          to: version,
        })}
          title=${compatibilityWords(row)}><span class="hidden-text">${compatibilityWords(row)}</span></a>
      `
      : html`<span class="bond unknown"></span>`)
  }
    <a class=${deleted ? "dot deleted" : "dot"} href=${href(path`/subjects/${subject}/versions/${version}`)}>
      <span class="hidden-text">Version </span>${version}${deleted && html`<span class="hidden-text">, deleted</span>`}
    </a>
  </li>`;
}
