/** The extents of places in a text: what the editor underlines, and the lines to which a note belongs. */

/**
 * @param {string} text
 * @param {number} from  where the place begins
 * @returns {{to: number, end: number}}  where the underline ends, and an offset in the last line of the place
 */
export function extentOf(text, from) {
  const next = text.indexOf("\n", from);
  const lineEnd = next < 0 ? text.length : next;
  const row = text.slice(from, lineEnd).replace(/[\s,]+$/, "");
  const to = from + Math.max(row.length, Math.min(1, text.length - from));
  if (!/[{[]$/.test(row)) return { to, end: to };
  const close = closing(text, from + row.length - 1);
  if (close < 0) return { to, end: to };
  const before = text.lastIndexOf("\n", close) - 1;
  return { to, end: Math.max(to, before) };
}

/**
 * Returns the offset of the closing bracket for the bracket at `open`, or -1. Brackets in strings and comments do not
 * count.
 * @param {string} text
 * @param {number} open
 */
function closing(text, open) {
  const tokens = /"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\/|[{}[\]]/g;
  tokens.lastIndex = open;
  let depth = 0;
  for (let token = tokens.exec(text); token; token = tokens.exec(text)) {
    const [bracket] = token;
    if (bracket === "{" || bracket === "[") depth++;
    else if (bracket === "}" || bracket === "]") depth--;
    if (depth === 0) return token.index;
  }
  return -1;
}
