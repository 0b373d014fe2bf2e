/** Comparisons of texts without the page's time limit, which a loaded machine exceeds with any text. */

import * as diff from "../../../magicbyte/ui/page/text/diff.js";
import * as merge from "../../../magicbyte/ui/page/text/merge.js";

/** In milliseconds. */
const PATIENCE = 60_000;

/** As `diffLines` of the page. @type {typeof diff.diffLines} */
export const diffLines = (before, after, options = {}) =>
  diff.diffLines(before, after, { timeout: PATIENCE, ...options });

/** As `mergeTexts` of the page. @type {typeof merge.mergeTexts} */
export const mergeTexts = (base, mine, theirs, options = {}) =>
  merge.mergeTexts(base, mine, theirs, { timeout: PATIENCE, ...options });
