/** Reads all versions of a subject with their ids and times, including soft-deleted versions, in one request. */

import { call } from "./client.js";

/** @typedef {{subject: string, version: number, id: number, ts: number | null, latest: boolean, deleted: boolean}} Entry */

/**
 * The versions, newest first.
 * @param {string} subject
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<Entry[]>}
 */
export async function allVersions(subject, { signal } = {}) {
  const answer = await call("GET", "/schemas", { signal, query: { subjectPrefix: subject, deleted: true } });
  const listed = answer.data.filter((/** @type {any} */ entry) => isOf(entry.subject, subject));
  listed.sort((/** @type {any} */ left, /** @type {any} */ right) => right.version - left.version);
  const latest = listed.find((/** @type {any} */ entry) => !entry.deleted)?.version;
  return listed.map((/** @type {any} */ entry) => ({
    subject,
    version: entry.version,
    id: entry.id,
    ts: entry.ts ?? null,
    latest: entry.version === latest,
    deleted: entry.deleted === true,
  }));
}

/**
 * Whether a name in the answer is the subject; the name may include a context.
 * @param {string} name
 * @param {string} subject
 */
function isOf(name, subject) {
  return name === subject || (/^:\.[^:]*:/.test(name) && name.slice(name.indexOf(":", 1) + 1) === subject);
}
