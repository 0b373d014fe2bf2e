/** What 412 shows: the version that came meanwhile, one's own text and the start, side by side. */
import { html, useEffect, useRef } from "../../vendor/ui.js";
import { Shown } from "../../parts/hostile.js";
import { diffArrays } from "../../vendor/diff.js";

/**
 * @typedef {{title: string, hint: string, text: string}} Column
 */

/**
 * @param {{
 *   start: Column, mine: Column, theirs: Column, version: number,
 *   onKeep: () => void, onTake: () => void, onClose: () => void,
 * }} props
 */
export function Conflict({ start, mine, theirs, version, onKeep, onTake, onClose }) {
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => heading.current?.focus(), []);
  return html`
    <section class="card conflict" aria-labelledby="conflict">
      <div class="row wrap conflict-head">
        <h2 id="conflict" class="grow" tabindex="-1"
          ref=${heading}>Version ${version} came meanwhile. Nothing was registered.</h2>
        <button type="button" class="btn primary" onClick=${onKeep}>Keep my text, on top of version ${version}</button>
        <button type="button" class="btn" onClick=${onTake}>Take version ${version}</button>
        <button type="button" class="btn quiet" onClick=${onClose}>Back to the editor</button>
      </div>
      <div class="three">
        <${Text} column=${mine} start=${start.text} />
        <${Text} column=${theirs} start=${start.text} />
        <${Text} column=${start} start=${start.text} />
      </div>
    </section>
  `;
}

/** @param {{column: Column, start: string}} props */
function Text({ column: { title, hint, text }, start }) {
  return html`
    <section aria-label=${title}>
      <h3>${title} <span class="faint xs">${hint}</span></h3>
      <div class="code scroll" tabindex="0" role="group" aria-label=${`${title}, text`}>
        <div class="lines">
          ${linesOf(start, text).map(({ added, number, line }) =>
            html`
              <div class=${added ? "l add" : "l"}>
                <span>${number}</span>
                <span>${added ? html`+<span class="hidden-text"> added</span>` : ""}</span>
                <span><${Shown} text=${line} /></span>
              </div>
            `
          )}
        </div>
      </div>
    </section>
  `;
}

/**
 * The lines of a text; `added`: the start has no such line here.
 * @param {string} start
 * @param {string} text
 */
export function linesOf(start, text) {
  let number = 0;
  return diffArrays(start.split("\n"), text.split("\n")).flatMap(({ value, added, removed }) =>
    removed ? [] : value.map((line) => ({ added, number: ++number, line }))
  );
}
