/** The draft, the latest version and the version that the draft began with, side by side. */
import { html } from "../../../vendor/ui.js";
import { Shown } from "../../../parts/hostile.js";
import { diffArrays } from "../../../vendor/diff.js";

/** @typedef {{title: string, hint: string, text: string}} Column */

/** @param {{mine: Column, theirs: Column, start: Column}} props */
export const ThreeTexts = ({ mine, theirs, start }) =>
  html`
    <div class="three">
      <${Text} column=${mine} start=${start.text} />
      <${Text} column=${theirs} start=${start.text} />
      <${Text} column=${start} start=${start.text} />
    </div>
  `;

/** @param {{column: Column, start: string}} props */
function Text({ column: { title, hint, text }, start }) {
  return html`
    <section aria-label=${title}>
      <h3>${title} <span class="faint xs">${hint}</span></h3>
      <div class="code scroll" tabindex="0" role="group" aria-label=${`${title}, text`}>
        <div class="lines">
          ${numberedLines(start, text).map(({ added, number, line }) =>
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
 * The lines of a text; `added`: the start does not have the line. Marks nothing if the comparison takes too long.
 * @param {string} start
 * @param {string} text
 */
function numberedLines(start, text) {
  const lines = text.split("\n");
  const changes = diffArrays(start.split("\n"), lines, { timeout: 300 });
  if (changes === undefined) return lines.map((line, index) => ({ added: false, number: index + 1, line }));
  let number = 0;
  return changes.flatMap(({ value, added, removed }) =>
    removed ? [] : value.map((line) => ({ added, number: ++number, line }))
  );
}
