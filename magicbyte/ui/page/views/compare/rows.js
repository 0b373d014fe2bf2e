/** Finds the rows of changes and findings in a comparison. */

import { Bridge } from "../../text/positions.js";

/** @import { Row } from "../../text/diff.js" */
/** @import { Lines } from "../../text/positions.js" */
/** @import { Layouts } from "../../text/in_worker.js" */
/** @import { Layout } from "../../text/pretty.js" */
/** @import { Change, Comparison, Finding, Place } from "../../text/answers.d.ts" */
/**
 * @typedef {{layout: Layout, lines: Lines, bridge: Bridge}} Text One side: its pretty text and the mapping from the
 *   stored text.
 */
/** @typedef {{finding: Finding, change: Change}} Hint A finding and its change. */

/** A note is placed below the end of its object if the object has at most this many lines. */
const WHOLE_OBJECT = 8;

/** @param {Layouts} layouts @returns {Text} */
export function textOf({ stored, laidOut }) {
  const bridge = new Bridge(stored, laidOut);
  return { layout: bridge.to, lines: bridge.toLines, bridge };
}

/** Finds the rows of places of the stored texts. */
export class RowFinder {
  /**
   * @param {Row[]} rows
   * @param {Text} before
   * @param {Text} after
   */
  constructor(rows, before, after) {
    this.rows = rows;
    this.before = before;
    this.after = after;
    /** @type {number[]} */
    this.byOld = [];
    /** @type {number[]} */
    this.byNew = [];
    rows.forEach((row, index) => {
      if (row.old) this.byOld[row.old] = index;
      if (row.new) this.byNew[row.new] = index;
    });
  }

  /**
   * The row of a place of the new text, else of the old text, else -1.
   * @param {{old: Place | null, new: Place | null}} at
   */
  rowOf(at) {
    if (at.new) return this.byNew[this.after.bridge.carry(at.new).line] ?? -1;
    if (at.old) return this.byOld[this.before.bridge.carry(at.old).line] ?? -1;
    return -1;
  }

  /** The row of a change; if the change has no place, the row of its first finding. @param {Change} change */
  rowOfChange(change) {
    const row = this.rowOf(change.at);
    if (row >= 0 || change.findings.length === 0) return this.firstChanged(row, change);
    return this.rowOf(change.findings[0]);
  }

  /** The first row from `row` on that differs: an object's first line is often equal on both sides. */
  /** @param {number} row @param {Change} change */
  firstChanged(row, change) {
    if (row < 0 || change.kind === "added" || change.kind === "removed") return row;
    for (let index = row; index < Math.min(this.rows.length, row + WHOLE_OBJECT); index += 1) {
      if (!this.rows[index].same) return index;
    }
    return row;
  }

  /**
   * The row below which the notes about `row` are placed: the last row of the object that begins there, or the closing
   * bracket of the object around it.
   * @param {number} row
   */
  hangsUnder(row) {
    const text = this.textOfRow(row);
    if (/[{[]$/.test(text)) {
      const indent = text.search(/\S/);
      const last = Math.min(this.rows.length, row + WHOLE_OBJECT);
      for (let index = row + 1; index < last; index += 1) {
        const line = this.textOfRow(index);
        if (line.search(/\S/) === indent && /^\s*[}\]]/.test(line)) return index;
      }
      return row;
    }
    return /^\s*[}\]],?$/.test(this.textOfRow(row + 1)) ? row + 1 : row;
  }

  /** @param {number} index */
  textOfRow(index) {
    const row = this.rows[index];
    if (!row) return "";
    return row.new ? this.after.lines.lineText(row.new) : this.before.lines.lineText(row.old);
  }

  /**
   * The findings by the row above their notes; findings without a place have -1.
   * @param {Change[]} changes
   * @returns {Map<number, Hint[]>}
   */
  hints(changes) {
    /** @type {Map<number, Hint[]>} */
    const byRow = new Map();
    for (const change of changes) {
      for (const finding of change.findings) {
        const row = this.rowOf(finding);
        const under = row < 0 ? -1 : this.hangsUnder(row);
        const hints = byRow.get(under) ?? [];
        hints.push({ finding, change });
        byRow.set(under, hints);
      }
    }
    return byRow;
  }
}

/**
 * Rows as the lines of a unified text: in each change, first the removed lines, then the added lines.
 * @param {Row[]} rows
 * @returns {{row: Row, index: number, side: "same" | "old" | "new"}[]}
 */
export function unifiedOf(rows, from = 0, to = rows.length) {
  /** @type {{row: Row, index: number, side: "same" | "old" | "new"}[]} */
  const lines = [];
  for (let index = from; index < to;) {
    if (rows[index].same) {
      lines.push({ row: rows[index], index, side: "same" });
      index += 1;
      continue;
    }
    let end = index;
    while (end < to && !rows[end].same) end += 1;
    for (let at = index; at < end; at += 1) if (rows[at].old) lines.push({ row: rows[at], index: at, side: "old" });
    for (let at = index; at < end; at += 1) if (rows[at].new) lines.push({ row: rows[at], index: at, side: "new" });
    index = end;
  }
  return lines;
}
