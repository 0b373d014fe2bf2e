/** A text as lines with numbers that are anchors; a range of lines can be selected, and references are links. */

import { numberedUpTo } from "../../parts/code_text.js";
import { html } from "../../vendor/ui.js";
import { segmentsOf } from "../../text/positions.js";
import { Blocks } from "./blocks.js";
import { Segments } from "./segments.js";
import { grouped } from "../../text/grouped.js";

/** @import { Layout } from "../../text/pretty.js" */
/** @import { Lines } from "../../text/positions.js" */
/** @typedef {[number, number]} Range The first and the last line, from 1. */

/** A longer line is shown without colours, and cut. */
const COLOURED = 20_000;
const LONGEST = 100_000;

/**
 * The lines that a fragment names: `L3`, `L3-L9`; null for others.
 * @param {string} hash
 * @returns {Range | null}
 */
export function rangeOf(hash) {
  const parts = hash.match(/^L(\d+)(?:-L?(\d+))?$/);
  if (!parts) return null;
  const [first, last] = [Number(parts[1]), Number(parts[2] ?? parts[1])];
  return first <= last ? [first, last] : [last, first];
}

/**
 * The place in the stored text that a fragment names: `at-1-267`, as a search finds it; null for others.
 * @param {string} hash
 * @returns {import("../../text/positions.js").Place | null}
 */
export function placeOf(hash) {
  const parts = hash.match(/^at-(\d+)-(\d+)$/);
  return parts && { line: Number(parts[1]), column: Number(parts[2]) };
}

/** The fragment of a range. @param {Range} range */
export function hashOf([first, last]) {
  return first === last ? `L${first}` : `L${first}-L${last}`;
}

/**
 * @param {{layout: Layout, lines: Lines, selected: Range | null, select: (range: Range) => void, label: string,
 *   links?: Map<string, string>}} props
 */
export function CodeLines({ layout, lines, selected, select, label, links }) {
  const numbers = Array.from({ length: lines.count }, (_, index) => index + 1);
  if (numbers.length > 1 && lines.lineText(lines.count) === "") numbers.pop();
  /** @param {MouseEvent} event @param {number} line */
  const onClick = (event, line) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    select(event.shiftKey && selected ? [Math.min(selected[0], line), Math.max(selected[0], line)] : [line, line]);
  };
  return html`
    <div class="code wrapped" style=${numberedUpTo(lines.count)} role="region" aria-label=${label}>
      <${Blocks} items=${numbers} first=${selected?.[1] ?? 0} render=${(/** @type {number} */ line) => {
        const on = selected !== null && line >= selected[0] && line <= selected[1];
        return html`<div class=${on ? "l on" : "l"} id=${"L" + line} key=${line}>
        <a href=${"#L" + line} tabindex="-1" aria-label=${"Line " + line}
          onClick=${(/** @type {MouseEvent} */ event) => onClick(event, line)}>${line}</a><span></span>
        <span class="t"><${LineText} layout=${layout} lines=${lines} line=${line} links=${links} /></span>
      </div>`;
      }} />
    </div>
  `;
}

/** @param {{layout: Layout, lines: Lines, line: number, links?: Map<string, string>}} props */
function LineText({ layout, lines, line, links }) {
  const length = lines.lineEnd(line) - lines.starts[line - 1];
  if (length <= COLOURED) return html`<${Segments} segments=${segmentsOf(layout, lines, line)} links=${links} />`;
  const text = lines.lineText(line);
  const left = length - LONGEST;
  return left > 0
    ? html`${text.slice(0, LONGEST)}<span class="faint"> ... ${
      grouped(left)
    } more characters; the download has them</span>`
    : text;
}
