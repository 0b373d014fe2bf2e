/** Holders: versions that refer to other versions, and so block their deletion. */
import { path } from "./encode_url.js";
import { call } from "./client.js";
import { lacking, lacks } from "./features.js";
import { isMissingRoute } from "./transport.js";

/** @typedef {{subject: string, version: number, id: number, deleted: boolean}} Holder */
/** @typedef {{versions: {version: number, total: number, referencedBy: Holder[]}[], total: number, cut: boolean}} HeldVersions */

/** @type {HeldVersions} */
export const HELD_BY_NONE = { versions: [], total: 0, cut: false };

/**
 * The versions of a subject that others refer to, newest first; null if the registry does not return them.
 * @param {string} subject
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<HeldVersions | null>}
 */
export async function heldVersions(subject, { signal } = {}) {
  if (lacking.peek().includes("holders")) return null;
  try {
    return (await call("GET", path`/subjects/${subject}/referencedby`, { signal })).data;
  } catch (error) {
    const { status, code } = /** @type {any} */ (error);
    if (isMissingRoute(error)) lacks("holders");
    // The subject has no version, or the user may not list its versions.
    else if (code === 40401) return HELD_BY_NONE;
    else if (status !== 403) throw error;
    return null;
  }
}

/**
 * The holders that block the deletion of a version; null as version: of the whole subject.
 * @param {HeldVersions} held
 * @param {string} subject
 * @param {number | null} version
 * @param {boolean} permanent whether soft-deleted holders count as well
 * @returns {Holder[]}
 */
export function holdersOf({ versions }, subject, version, permanent) {
  const among = versions.filter((entry) => version === null || entry.version === version);
  const all = among.flatMap(({ referencedBy }) => referencedBy)
    // References inside the subject do not block its deletion as a whole.
    .filter((holder) => (permanent || !holder.deleted) && (version !== null || holder.subject !== subject));
  return [...new Map(all.map((holder) => [`${holder.version} ${holder.subject}`, holder])).values()];
}
