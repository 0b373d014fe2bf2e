/**
 * Applies the registry's edits to the text in the editor.
 *
 * The registry counts characters (code points); the editor and JavaScript's strings count UTF-16 units. Edits belong to
 * the checked text: if the text has changed since, edits move with it or are dropped.
 *
 * @typedef {{offset: number, length: number, text: string}} Edit  in characters of the checked text
 * @typedef {{from: number, to: number, insert: string}} Change  in UTF-16 units, as the editor expects it
 * @typedef {{line: number, column: number}} Position  both from 1, the column in characters
 */

/** A character outside the Basic Multilingual Plane: one code point, two UTF-16 units. */
const PAIR = /[\u{10000}-\u{10FFFF}]/u;

/**
 * Returns a function from a count of characters to the offset in UTF-16 units.
 * @param {string} text
 * @returns {(characters: number) => number}
 */
export function unitsOf(text) {
  if (!PAIR.test(text)) return (characters) => Math.min(characters, text.length);
  /** @type {number[]} */
  const starts = [];
  for (let unit = 0; unit < text.length;) {
    starts.push(unit);
    unit += /** @type {number} */ (text.codePointAt(unit)) > 0xffff ? 2 : 1;
  }
  return (characters) => characters < starts.length ? starts[characters] : text.length;
}

/**
 * Returns the edits of a fix as changes, in the order of the text.
 * @param {string} sent
 * @param {Edit[]} edits
 * @returns {Change[]}
 */
export function changesOf(sent, edits) {
  const units = unitsOf(sent);
  return edits
    .map(({ offset, length, text }) => ({ from: units(offset), to: units(offset + length), insert: text }))
    .sort((one, other) => one.from - other.from || one.to - other.to);
}

/**
 * Returns the text after the changes.
 * @param {string} text
 * @param {Change[]} changes
 */
export function applied(text, changes) {
  let result = "";
  let at = 0;
  for (const { from, to, insert } of changes) {
    result += text.slice(at, from) + insert;
    at = to;
  }
  return result + text.slice(at);
}

/**
 * Moves changes of the checked text to the current text. Both texts agree in a head and a tail: a change moves only if
 * it lies inside one of them. Returns null if a change lies between them.
 * @param {string} sent
 * @param {string} now
 * @param {Change[]} changes
 * @returns {Change[] | null}
 */
export function moved(sent, now, changes) {
  if (sent === now) return changes;
  const shorter = Math.min(sent.length, now.length);
  let head = 0;
  while (head < shorter && sent[head] === now[head]) head++;
  let tail = 0;
  while (tail < shorter - head && sent[sent.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const shift = now.length - sent.length;
  /** @type {Change[]} */
  const result = [];
  for (const change of changes) {
    if (change.to < head) result.push(change);
    else if (change.from > sent.length - tail) {
      result.push({ ...change, from: change.from + shift, to: change.to + shift });
    } else return null;
  }
  return result;
}

/**
 * Returns the UTF-16 offset of a position; a position after a line's end counts as the line's end, a line after the
 * last line as the text's end.
 * @param {string} text
 * @param {Position} position
 */
export function offsetAt(text, { line, column }) {
  let start = 0;
  for (let number = 1; number < line; number++) {
    const end = text.indexOf("\n", start);
    if (end < 0) return text.length;
    start = end + 1;
  }
  const next = text.indexOf("\n", start);
  const row = text.slice(start, next < 0 ? text.length : next);
  return start + unitsOf(row)(Math.max(0, column - 1));
}
