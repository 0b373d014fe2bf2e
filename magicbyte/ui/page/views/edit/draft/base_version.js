/** Whether a draft's base is still the latest version. Pure. */
import { latestOf } from "./stored_text.js";

/** @import { Draft } from "./drafts.js" */

/**
 * Whether the draft's base is no longer the latest version.
 * @param {number[]} versions
 * @param {Draft} draft
 */
export const isStale = (versions, { base }) => base > 0 && versions.length > 0 && latestOf(versions) !== base;

/**
 * Whether the draft's subject no longer has a version.
 * @param {number[]} versions
 * @param {Draft} draft
 */
export const isGone = (versions, { base }) => base > 0 && versions.length === 0;
