/** The two texts of a comparison: side by side or unified, folded or whole, with findings under the lines. */

import { Segments } from "../code/segments.js";
import { VirtualList } from "../code/virtual_list.js";
import { Shown } from "../../parts/hostile.js";
import { segmentsOf } from "../../text/positions.js";
import { counted, numbered } from "../../text/counted.js";
import { html } from "../../vendor/ui.js";
import { unifiedOf } from "./rows.js";

/** @import { Item } from "../../text/folds.js" */
/** @import { Row } from "../../text/diff.js" */
/** @import { Child } from "../../state/types.d.ts" */
/** @import { Text } from "./rows.js" */

/**
 * @typedef {object} DiffProps
 * @property {Row[]} rows
 * @property {Item[]} items
 * @property {Text} before
 * @property {Text} after
 * @property {Set<number>} opened the opened folds, by their first row
 * @property {boolean} split
 * @property {number} current the row of the current change; -1 for none
 * @property {(under: number) => Child} notesUnder the notes below a row
 * @property {(from: number) => void} open opens the fold that begins with a row
 */

/** Up to this many folded lines stay in the document, so that search and print find them. */
const FINDABLE = 3000;

/** @param {DiffProps} props */
export function DiffText(props) {
  const { rows, items, opened, split, current } = props;
  /** @type {any[]} */
  const parts = [];
  for (const stretch of stretches(items, opened)) {
    if (stretch.fold) {
      parts.push(stretch);
      continue;
    }
    parts.push(...partsOf(props, stretch.from, stretch.to));
  }
  const findable = rows.length <= FINDABLE;
  return html`
    <${VirtualList}
      items=${parts}
      goal=${parts.findIndex((part) => "index" in part && part.index === current)}
      find=${(/** @type {number} */ part) => document.querySelector(`[data-row="${parts[part].index}"]`)}
      render=${(/** @type {any} */ part) =>
        part.fold
          ? html`
            <${FoldRow} ...${part} split=${split} open=${props.open} key=${"f" + part.from}
              rows=${findable
                ? () => partsOf(props, part.from, part.to).map((line) => renderPart(props, line))
                : null} />
          `
          : renderPart(props, part)}
    />
  `;
}

/**
 * Folds, and the runs of rows between them. Opened folds become part of a run.
 * @param {Item[]} items
 * @param {Set<number>} opened
 */
function stretches(items, opened) {
  /** @type {{fold: boolean, from: number, to: number, name: string}[]} */
  const all = [];
  for (const item of items) {
    if (item.fold && !opened.has(item.from)) {
      all.push({ fold: true, from: item.from, to: item.to, name: item.name });
      continue;
    }
    const [from, to] = item.fold ? [item.from, item.to] : [item.index, item.index + 1];
    const last = all.at(-1);
    if (last && !last.fold && last.to === from) last.to = to;
    else all.push({ fold: false, from, to, name: "" });
  }
  return all;
}

/**
 * @typedef {{under: number, notes: Child} | {index: number, side: "same" | "old" | "new"}} Part Notes, or a line.
 */

/**
 * The lines of a run of rows, and the notes below them. In a unified text, notes follow the end of their change.
 * @param {DiffProps} props
 * @param {number} from
 * @param {number} to
 * @returns {Part[]}
 */
function partsOf({ rows, split, notesUnder }, from, to) {
  /** @type {Part[]} */
  const parts = [];
  /** @type {number[]} */
  let waiting = [];
  const flush = () => {
    for (const under of waiting) {
      const notes = notesUnder(under);
      if (notes) parts.push({ under, notes });
    }
    waiting = [];
  };
  if (split) {
    for (let index = from; index < to; index += 1) {
      parts.push({ index, side: "same" });
      waiting = [index];
      flush();
    }
    return parts;
  }
  for (const line of unifiedOf(rows, from, to)) {
    if (line.side === "same") flush();
    parts.push({ index: line.index, side: line.side });
    if (!waiting.includes(line.index)) waiting.push(line.index);
    if (line.side === "same") flush();
  }
  flush();
  return parts;
}

/** @param {DiffProps} props @param {Part} part */
function renderPart({ rows, before, after, split, current }, part) {
  if ("notes" in part) return html`<div class="under" key=${"n" + part.under}>${part.notes}</div>`;
  const { index, side } = part;
  const shared = { row: rows[index], before, after, on: index === current, index };
  return split
    ? html`<${SplitRow} ...${shared} key=${index} />`
    : html`<${UnifiedRow} ...${shared} side=${side} key=${index + side} />`;
}

/**
 * @param {{from: number, to: number, name: string, split: boolean, open: (from: number) => void,
 *   rows: (() => Child) | null}} props
 */
function FoldRow({ from, to, name, split, open, rows }) {
  const unfold = () => open(from);
  return html`
    <button type="button" class=${split ? "fold two-sided" : "fold"} aria-expanded="false" onClick=${unfold}>
      <span>⋯ ${counted(to - from, "line")} as ${numbered(to - from, "it was", "they were")}${name &&
        html`, then in <span class="mono"><${Shown} text=${name} /></span>`}</span>
    </button>
        ${rows && html`<div class="folded" hidden="until-found" onBeforeMatch=${unfold}>${rows()}</div>`}
  `;
}

const WORDS = { del: "removed ", add: "added " };

/**
 * A line of both sides. Screen readers read an unchanged line only once, on the new side.
 * @param {{row: Row, before: Text, after: Text, on: boolean, index: number}} props
 */
function SplitRow({ row, before, after, on, index }) {
  return html`
    <div class=${on ? "pair on" : "pair"} data-row=${index}>
      <${Line} text=${before} line=${row.old} marks=${row.oldMarks} kind=${row.same ? "" : "del"} side="old"
        hidden=${row.same} />
      <${Line} text=${after} line=${row.new} marks=${row.newMarks} kind=${row.same ? "" : "add"} side="new" />
    </div>
  `;
}

/**
 * @param {{text: Text, line: number, marks: import("../../text/diff.js").Mark[], kind: "" | "add" | "del",
 *   side: string, hidden?: boolean}} props `hidden`: hide the line from screen readers
 */
function Line({ text, line, marks, kind, side, hidden = false }) {
  if (line === 0) return html`<div class=${`l hole ${side}`}><span></span><span></span><span></span></div>`;
  return html`<div class=${`l ${kind} ${side}`} aria-hidden=${hidden ? "true" : undefined}>
    <span>${line}</span><${Sign} kind=${kind} />
    <span class="t"><${Segments} segments=${segmentsOf(text.layout, text.lines, line, marks)} /></span>
  </div>`;
}

/** @param {{kind: "" | "add" | "del"}} props */
function Sign({ kind }) {
  if (!kind) return html`<span></span>`;
  return html`<span>
    <span aria-hidden="true">${kind === "del" ? "−" : "+"}</span><span class="hidden-text">${WORDS[kind]}</span>
  </span>`;
}

/**
 * @param {{row: Row, side: "same" | "old" | "new", before: Text, after: Text, on: boolean, index: number}} props
 */
function UnifiedRow({ row, side, before, after, on, index }) {
  const old = side === "old";
  const [text, line, marks] = old ? [before, row.old, row.oldMarks] : [after, row.new, row.newMarks];
  const kind = side === "same" ? "" : old ? "del" : "add";
  return html`
    <div class=${on ? "single on" : "single"} data-row=${index}>
      <div class=${`l ${kind}`}>
          <span>${side === "new" ? "" : row.old}</span><span>${old ? "" : row.new}</span><${Sign} kind=${kind} />
          <span class="t"><${Segments} segments=${segmentsOf(text.layout, text.lines, line, marks)} /></span>
        </div>
    </div>
  `;
}
