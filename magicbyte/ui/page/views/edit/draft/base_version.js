/** Whether the version below a draft is still the latest one. Pure. */
import { latestOf } from "./stored_text.js";

/** @import { Draft } from "./drafts.js" */

/**
 * Whether another version is the latest one than the one on top of which the draft is registered.
 * @param {number[]} versions
 * @param {Draft} draft
 */
export const isStale = (versions, { base }) => base > 0 && versions.length > 0 && latestOf(versions) !== base;

/**
 * Whether the subject of the draft has no version any more.
 * @param {number[]} versions
 * @param {Draft} draft
 */
export const isGone = (versions, { base }) => base > 0 && versions.length === 0;
