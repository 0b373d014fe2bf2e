/**
 * Positions in texts: offsets count UTF-16 units from 0; a place is a line and a column from 1, and columns count
 * characters as the registry does.
 */

/** @import { Layout } from "./pretty.js" */
/** @import { Kind, Tokens } from "./tokens_json.js" */
/** @typedef {{line: number, column: number}} Place */
/** @typedef {{kind: Kind | "space", text: string, marked: boolean}} Segment */

/**
 * The offsets at which the lines of a text begin.
 * @param {string} text
 */
export function lineStarts(text) {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** The lines of one text. */
export class Lines {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.starts = lineStarts(text);
    this.plain = !/[\ud800-\udbff]/.test(text);
  }

  get count() {
    return this.starts.length;
  }

  /** The text of line `line` (from 1), without its line break. @param {number} line */
  lineText(line) {
    return this.text.slice(this.starts[line - 1], this.lineEnd(line));
  }

  /** @param {number} line */
  lineEnd(line) {
    const end = line < this.count ? this.starts[line] - 1 : this.text.length;
    return end > this.starts[line - 1] && this.text[end - 1] === "\r" ? end - 1 : end;
  }

  /** The offset of a place; a place outside the text counts as its nearest end. @param {Place} place */
  offsetOf({ line, column }) {
    if (line < 1) return 0;
    if (line > this.count) return this.text.length;
    const end = this.lineEnd(line);
    let at = this.starts[line - 1];
    if (this.plain) return Math.min(at + column - 1, end);
    for (let left = column - 1; left > 0 && at < end; left -= 1) at += isHigh(this.text, at) ? 2 : 1;
    return Math.min(at, end);
  }

  /** The place of an offset. @param {number} offset @returns {Place} */
  placeOf(offset) {
    const line = lastAtMost(this.starts, offset) + 1;
    let column = 1 + offset - this.starts[line - 1];
    if (!this.plain) {
      for (let at = this.starts[line - 1]; at < offset; at += 1) if (isHigh(this.text, at)) column -= 1;
    }
    return { line, column };
  }
}

/** @param {string} text @param {number} at */
function isHigh(text, at) {
  const code = text.charCodeAt(at);
  return code >= 0xd800 && code <= 0xdbff;
}

/**
 * The index of the last of the sorted numbers that is at most `value`, or -1.
 * @param {ArrayLike<number>} sorted
 * @param {number} value
 */
export function lastAtMost(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Maps places between two layouts of one text; both layouts have the same tokens.
 */
export class Bridge {
  /**
   * @param {Layout} from
   * @param {Layout} to
   */
  constructor(from, to) {
    this.from = from;
    this.to = to;
    this.fromLines = new Lines(from.text);
    this.toLines = from === to ? this.fromLines : new Lines(to.text);
  }

  /** The place in the other layout that corresponds to `place`. @param {Place} place @returns {Place} */
  carry(place) {
    return carried(place, this.from.tokens, this.fromLines, this.to.tokens, this.toLines);
  }

  /** The reverse of `carry`. @param {Place} place @returns {Place} */
  carryBack(place) {
    return carried(place, this.to.tokens, this.toLines, this.from.tokens, this.fromLines);
  }
}

/**
 * @param {Place} place
 * @param {Tokens} tokens
 * @param {Lines} lines
 * @param {Tokens} toTokens
 * @param {Lines} toLines
 */
function carried(place, tokens, lines, toTokens, toLines) {
  const offset = lines.offsetOf(place);
  let index = lastAtMost(tokens.starts, offset);
  if (index < 0) return toLines.placeOf(toTokens.starts[0] ?? 0);
  if (offset >= tokens.ends[index] && index + 1 < tokens.starts.length) {
    index += 1;
    return toLines.placeOf(toTokens.starts[index]);
  }
  const within = Math.min(offset, tokens.ends[index]) - tokens.starts[index];
  return toLines.placeOf(toTokens.starts[index] + within);
}

/**
 * The coloured segments of a line. Segments inside one of `marks` are marked (columns in UTF-16 units, from 0).
 * @param {Layout} layout
 * @param {Lines} lines
 * @param {number} line
 * @param {ReadonlyArray<readonly [number, number]>} [marks]
 * @returns {Segment[]}
 */
export function segmentsOf(layout, lines, line, marks = []) {
  const from = lines.starts[line - 1];
  const to = lines.lineEnd(line);
  const { kinds, starts, ends } = layout.tokens;
  /** @type {Segment[]} */
  const segments = [];
  let at = from;
  /** @param {Kind | "space"} kind @param {number} end */
  const push = (kind, end) => {
    for (const [start, stop, marked] of cut(at - from, end - from, marks)) {
      segments.push({ kind, text: layout.text.slice(from + start, from + stop), marked });
    }
    at = end;
  };
  for (let index = Math.max(0, lastAtMost(starts, from)); index < starts.length && starts[index] < to; index += 1) {
    if (ends[index] <= from) continue;
    if (starts[index] > at) push("space", starts[index]);
    push(kinds[index], Math.min(ends[index], to));
  }
  if (at < to) push("space", to);
  return segments;
}

/**
 * Cuts a span at the borders of the marks.
 * @param {number} start
 * @param {number} end
 * @param {ReadonlyArray<readonly [number, number]>} marks
 * @returns {Array<[number, number, boolean]>}
 */
function cut(start, end, marks) {
  /** @type {Array<[number, number, boolean]>} */
  const pieces = [];
  let at = start;
  for (const [from, to] of marks) {
    if (to <= at || from >= end) continue;
    if (from > at) pieces.push([at, from, false]);
    pieces.push([Math.max(from, at), Math.min(to, end), true]);
    at = Math.min(to, end);
  }
  if (at < end) pieces.push([at, end, false]);
  return pieces;
}
