/** Names in little room are cut in their middle: their ends, such as `-value` or `.v3-key`, tell them apart. */

/** So many of the last characters stay in sight. */
const END = 12;
/** Shorter names are not cut. */
const SHORTEST = 2 * END;

/** @typedef {{text: string, hit: boolean}} Part of a name; `hit`: found by a search */

/** Whether a name is so long that it may be cut. @param {string} name */
export const isCut = (name) => name.length >= SHORTEST;

/**
 * The parts of a name that may be cut, and those of its end; all are in the first list if the name is short.
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
    // A pair of surrogates stays together.
    const cut = /[\udc00-\udfff]/.test(text[left] ?? "") ? left - 1 : left;
    const [first, last] = [text.slice(0, Math.max(0, cut)), text.slice(Math.max(0, cut))];
    if (first) split[0].push({ text: first, hit });
    if (last) split[1].push({ text: last, hit });
    left -= text.length;
  }
  return split;
}

/** How wide a text is in a fixed font, in its digits. @param {Part[]} parts */
export const widthOf = (parts) =>
  [...parts.map(({ text }) => text).join("")].reduce((sum, character) => sum + (character > "\u02ff" ? 2 : 1), 0);
