/** Compares large texts beside the page: takes `{number, before, after, type, ...}`, answers `{number, rows}`. */

import { diffLines } from "./diff.js";
import { asStored, pretty } from "./pretty.js";

self.addEventListener("message", (event) => {
  const { number, before, after, beforeType, afterType, stored, timeout } = event.data;
  const [left, right] = [asStored(before, beforeType), asStored(after, afterType)];
  const rows = stored ? diffLines(left, right, { timeout }) : diffLines(pretty(left), pretty(right), { timeout });
  self.postMessage({ number, rows });
});
