/** A text as numbered lines. The numbers are anchors, users can select a range of lines, and references are links. */

import { numberedUpTo } from "../../parts/code_text.js";
import { grouped } from "../../text/grouped.js";
import { counted } from "../../text/counted.js";
import { segmentsOf } from "../../text/positions.js";
import { html, useMemo, useRef } from "../../vendor/ui.js";
import { useWholeCopy } from "./copy_whole.js";
import { lineOf, marksOf } from "./find_box.js";
import { Segments } from "./segments.js";
import { VirtualList } from "./virtual_list.js";

/** @import { Layout } from "../../text/pretty.js" */
/** @import { Lines } from "../../text/positions.js" */
/** @import { FindState } from "./find_box.js" */
/** @typedef {[number, number]} Range The first and the last line, from 1. */

/** Longer lines are truncated and have no colours. */
const COLOURED = 20_000;
const LONGEST = 100_000;

/**
 * The lines that a fragment names: `L3`, `L3-L9`; null for other fragments.
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
 * The place in the stored text that a fragment names: `at-1-267`, as a search links it; null for other fragments.
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

/** How many lines a text has; a line break at the end begins no new line. @param {Lines} lines */
export const countOf = (lines) => lines.count > 1 && lines.lineText(lines.count) === "" ? lines.count - 1 : lines.count;

/**
 * @param {{layout: Layout, lines: Lines, selected: Range | null, select: (range: Range) => void, label: string,
 *   links?: Map<string, string>, found?: FindState | null}} props `found`: the search of a long text
 */
export function CodeLines({ layout, lines, selected, select, label, links, found = null }) {
  const count = countOf(lines);
  const numbers = useMemo(() => Array.from({ length: count }, (_, index) => index + 1), [lines]);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useWholeCopy(box, lines);
  const place = found?.starts[found.current];
  const foundLine = place === undefined ? 0 : lineOf(lines, place);
  /** @param {MouseEvent} event @param {number} line */
  const onClick = (event, line) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    select(event.shiftKey && selected ? [Math.min(selected[0], line), Math.max(selected[0], line)] : [line, line]);
  };
  /** @param {number} line */
  const classOf = (line) => {
    const on = selected !== null && line >= selected[0] && line <= selected[1];
    return `l${on ? " on" : ""}${line === foundLine ? " found" : ""}`;
  };
  return html`
    <div class="code wrapped" style=${numberedUpTo(lines.count)} role="region" aria-label=${`${label}, ${
      counted(count, "line")
    }`} ref=${box}>
      <${VirtualList} items=${numbers} goal=${goalOf(foundLine, selected, count)}
        find=${(/** @type {number} */ row) => document.getElementById(`L${row + 1}`)}
        render=${(/** @type {number} */ line) =>
          html`<div class=${classOf(line)} id=${"L" + line} data-line=${line} key=${line}>
        <a href=${"#L" + line} tabindex="-1" aria-label=${"Line " + line}
          onClick=${(/** @type {MouseEvent} */ event) => onClick(event, line)}>${line}</a><span></span>
        <span class="t"><${LineText} layout=${layout} lines=${lines} line=${line} links=${links} found=${found} /></span>
      </div>`} />
    </div>
  `;
}

/**
 * The row to scroll to: the row of the search, else the first row of the address.
 * @param {number} foundLine 0 for none
 * @param {Range | null} selected
 * @param {number} count
 */
function goalOf(foundLine, selected, count) {
  const line = foundLine || (selected?.[0] ?? 0);
  return Math.min(line, count) - 1;
}

/** @param {{layout: Layout, lines: Lines, line: number, links?: Map<string, string>, found: FindState | null}} props */
function LineText({ layout, lines, line, links, found }) {
  const length = lines.lineEnd(line) - lines.starts[line - 1];
  if (length <= COLOURED) {
    const marks = found ? marksOf(found, lines, line) : [];
    return html`<${Segments} segments=${segmentsOf(layout, lines, line, marks)} links=${links} />`;
  }
  const text = lines.lineText(line);
  const left = length - LONGEST;
  return left > 0
    ? html`${text.slice(0, LONGEST)}<span class="faint"> ... ${
      grouped(left)
    } more characters; the download has them</span>`
    : text;
}
