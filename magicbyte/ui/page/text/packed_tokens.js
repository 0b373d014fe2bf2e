/** Tokens as numbers in buffers, which a worker transfers without a copy. */

/** @import { Kind, Tokens } from "./tokens_json.js" */
/** @typedef {{kinds: Uint8Array<ArrayBuffer>, starts: Uint32Array<ArrayBuffer>, ends: Uint32Array<ArrayBuffer>}} Packed */

/** @type {Kind[]} */
const KINDS = ["key", "string", "number", "keyword", "punctuation", "name", "comment", "other"];

/** @param {Tokens} tokens @returns {Packed} */
export function packed({ kinds, starts, ends }) {
  const codes = new Uint8Array(kinds.length);
  const code = new Map(KINDS.map((kind, index) => [kind, index]));
  for (let index = 0; index < kinds.length; index += 1) codes[index] = code.get(kinds[index]) ?? 0;
  return { kinds: codes, starts: Uint32Array.from(starts), ends: Uint32Array.from(ends) };
}

/** @param {Packed} tokens @returns {Tokens} */
export function unpacked({ kinds, starts, ends }) {
  /** @type {Kind[]} */
  const names = new Array(kinds.length);
  for (let index = 0; index < kinds.length; index += 1) names[index] = KINDS[kinds[index]];
  return { kinds: names, starts, ends };
}
