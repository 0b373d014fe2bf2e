/** Truncates long names in the middle: their ends, such as `-value` or `.v3-key`, distinguish them. */

/** The number of last characters that stay visible. */
const END = 12;
/** Shorter names are never truncated. */
const SHORTEST = 2 * END;

/** @typedef {{text: string, hit: boolean}} Part of a name; `hit`: matches the search */

/** Whether a name is long enough to be truncated. @param {string} name */
export const isCut = (name) => name.length >= SHORTEST;

/**
 * Splits a name's parts into those before its end, which may be truncated, and those of the end (empty for short
 * names).
 * @param {Part[]} parts
 * @returns {[Part[], Part[]]}
 */
export function beforeEnd(parts) {
  const name = parts.map(({ text }) => text).join("");
  if (!isCut(name)) return [parts, []];
  let left = name.length - END;
  /** @type {[Part[], Part[]]} */
  const split = [[], []];
  for (const { text, hit } of parts) {
    // Do not split a surrogate pair.
    const cut = /[\udc00-\udfff]/.test(text[left] ?? "") ? left - 1 : left;
    const [first, last] = [text.slice(0, Math.max(0, cut)), text.slice(Math.max(0, cut))];
    if (first) split[0].push({ text: first, hit });
    if (last) split[1].push({ text: last, hit });
    left -= text.length;
  }
  return split;
}

/** The width of a text in a fixed font, in digits. @param {Part[]} parts */
export const widthOf = (parts) =>
  [...parts.map(({ text }) => text).join("")].reduce((sum, character) => sum + (character > "\u02ff" ? 2 : 1), 0);
