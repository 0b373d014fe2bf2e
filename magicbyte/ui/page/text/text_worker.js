/** Worker that lays out and compares large texts: receives `{number, job, ...}`, posts `{number, answer}`. */

import { diffLines } from "./diff.js";
import { lineStarts } from "./positions.js";
import { packed } from "./packed_tokens.js";
import { asStored, pretty } from "./pretty.js";

/** Longer texts get no comparison by line: their rows alone would block the page. */
const MOST_LINES = 60_000;

/** @type {Record<string, (asked: any) => {answer: any, transfer?: ArrayBuffer[]}>} */
const JOBS = {
  compare({ before, after, beforeType, afterType, timeout }) {
    const [left, right] = [pretty(asStored(before, beforeType)), pretty(asStored(after, afterType))];
    const isTooLong = [left, right].some(({ text }) => lineStarts(text).length > MOST_LINES);
    return { answer: isTooLong ? null : diffLines(left, right, { timeout }) };
  },
  layOut({ text, type }) {
    const stored = asStored(text, type);
    const laidOut = pretty(stored);
    const own = packed(stored.tokens);
    if (laidOut === stored) return { answer: { stored: own, text: null }, transfer: buffersOf(own) };
    const { starts, ends } = packed(laidOut.tokens);
    const answer = { stored: own, text: laidOut.text, starts, ends };
    return { answer, transfer: [...buffersOf(own), starts.buffer, ends.buffer] };
  },
};

/** @param {import("./packed_tokens.js").Packed} tokens */
const buffersOf = ({ kinds, starts, ends }) => [kinds.buffer, starts.buffer, ends.buffer];

self.addEventListener("message", (event) => {
  const { number, job, ...asked } = event.data;
  const { answer, transfer = [] } = JOBS[job](asked);
  /** @type {any} */ (self).postMessage({ number, answer }, transfer);
});
