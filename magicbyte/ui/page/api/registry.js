/**
 * The registry's API: one function for each operation. It encodes the names that it gets, and resolves the response's
 * data.
 */
import { path } from "./encode_url.js";
import { call } from "./client.js";
import { jsonLines } from "./json_lines.js";

/** @typedef {{signal?: AbortSignal}} Options */
/** @typedef {{schema: string, schemaType?: string, references?: any[], metadata?: any, ruleSet?: any}} Proposal */

/**
 * @param {string} address
 * @param {import("./types.d.ts").CallOptions} [options]
 * @returns {Promise<any>}
 */
const get = async (address, options) => (await call("GET", address, options)).data;

/**
 * @param {string} method
 * @param {string} address
 * @param {unknown} [body]
 * @param {import("./types.d.ts").CallOptions} [options]
 * @returns {Promise<any>}
 */
const write = async (method, address, body, options) => (await call(method, address, { ...options, body })).data;

/**
 * The number of first rows, more than a window shows. The address must equal the one in index.html, so that the
 * browser requests it once.
 */
const HEAD_ROWS = 50;

/**
 * The listing of all subjects, of all contexts, as lines: the first rows of the default context, then all.
 * @returns {AsyncGenerator<import("./types.d.ts").Overview | import("./types.d.ts").ListingHead>}
 */
export async function* overviewLines() {
  const query = { deleted: true, head: HEAD_ROWS };
  yield* jsonLines(await call("GET", "/overview", { query, context: false, raw: true }));
}

/**
 * The listing of some subjects in columns, of all contexts.
 * @param {Options & {deleted?: boolean, prefix?: string, limit?: number}} [options]
 * @returns {Promise<import("./types.d.ts").Overview>}
 */
export const overview = ({ signal, deleted = true, prefix, limit } = {}) =>
  get("/overview", { signal, query: { deleted, subjectPrefix: prefix, limit }, context: false, exact: false });

/**
 * Searches versions by name, field, text and more.
 * @param {import("./types.d.ts").Query} query
 * @param {Options} [options]
 */
export const search = (query, { signal } = {}) => get("/search", { signal, query });

/**
 * The same search with the response's headers, which have the total.
 * @param {import("./types.d.ts").Query} query
 * @param {Options} [options]
 */
export const searchAnswer = (query, { signal } = {}) => call("GET", "/search", { signal, query });

/** @param {Options & {deleted?: boolean, prefix?: string}} [options] */
export const subjects = ({ signal, deleted, prefix } = {}) =>
  get("/subjects", { signal, query: { deleted, subjectPrefix: prefix }, exact: false });

/**
 * @param {string} subject
 * @param {Options & {deleted?: boolean, deletedOnly?: boolean}} [options]
 */
export const versions = (subject, { signal, deleted, deletedOnly } = {}) =>
  get(path`/subjects/${subject}/versions`, { signal, query: { deleted, deletedOnly } });

/**
 * @param {string} subject
 * @param {number | string} number or `latest`
 * @param {Options & {deleted?: boolean, format?: string}} [options]
 */
export const version = (subject, number, { signal, deleted, format } = {}) =>
  get(path`/subjects/${subject}/versions/${number}`, { signal, query: { deleted, format } });

/**
 * @param {string} subject
 * @param {number | string} number
 * @param {Options} [options]
 */
export const referencedBy = (subject, number, { signal } = {}) =>
  get(path`/subjects/${subject}/versions/${number}/referencedby`, { signal });

/**
 * @param {number | string} id
 * @param {Options & {subject?: string}} [options]
 */
export const byId = (id, { signal, subject } = {}) => get(path`/schemas/ids/${id}`, { signal, query: { subject } });

/**
 * @param {number | string} id
 * @param {Options & {deleted?: boolean}} [options]
 */
export const idVersions = (id, { signal, deleted } = {}) =>
  get(path`/schemas/ids/${id}/versions`, { signal, query: { deleted } });

/**
 * @param {string} guid
 * @param {Options} [options]
 */
export const byGuid = (guid, { signal } = {}) => get(path`/schemas/guids/${guid}`, { signal, context: false });

/**
 * @param {string} guid
 * @param {Options} [options]
 */
export const guidIds = (guid, { signal } = {}) => get(path`/schemas/guids/${guid}/ids`, { signal, context: false });

/**
 * The tree of a version's fields.
 * @param {string} subject
 * @param {number | string} number
 * @param {Options & {deleted?: boolean}} [options]
 */
export const outline = (subject, number, { signal, deleted } = {}) =>
  get(path`/subjects/${subject}/versions/${number}/outline`, { signal, query: { deleted } });

/**
 * The tree of an unregistered text's fields.
 * @param {Proposal} proposal
 * @param {Options} [options]
 */
export const outlineOf = (proposal, { signal } = {}) => write("POST", "/outline", proposal, { signal });

/**
 * The changes between two versions, with the verdicts of both directions.
 * @param {string} subject
 * @param {{from?: number | string, to?: number | string, fromSubject?: string, consecutive?: boolean, deleted?: boolean,
 *   limit?: number}} query
 * @param {Options} [options]
 */
export const compare = (subject, query, { signal } = {}) => get(path`/subjects/${subject}/compare`, { signal, query });

/**
 * Checks a text against a subject's versions, with the explanations.
 * @param {Proposal & {subject: string}} proposal
 * @param {Options & {level?: string, every?: boolean, version?: number | string, normalize?: boolean,
 *   explain?: boolean, verbose?: boolean}} [options]
 */
export const check = (
  { subject, ...proposal },
  { level, every, version, normalize, explain = true, verbose, signal } = {},
) =>
  write(
    "POST",
    version === undefined
      ? path`/compatibility/subjects/${subject}/versions`
      : path`/compatibility/subjects/${subject}/versions/${version}`,
    proposal,
    { signal, query: { explain, level, every, normalize, verbose } },
  );

/**
 * Registers a version; `ifMatch` is the version that must be the latest, and `force` skips the compatibility check.
 * @param {string} subject
 * @param {Proposal} proposal
 * @param {Options & {ifMatch?: number, normalize?: boolean, explain?: boolean, force?: boolean}} [options]
 */
export const register = (subject, proposal, { ifMatch, normalize, explain, force, signal } = {}) =>
  write("POST", path`/subjects/${subject}/versions`, proposal, {
    signal,
    query: { normalize, explain, force },
    headers: ifMatch === undefined ? {} : { "If-Match": String(ifMatch) },
  });

/** @param {string} subject */
const settings = (subject) => subject ? path`/${subject}` : "";

/**
 * The config of a subject, or of the registry if `subject` is empty; with the origin of the level.
 * @param {string} [subject]
 * @param {Options & {origin?: boolean, defaultToGlobal?: boolean}} [options]
 */
export const config = (subject = "", { signal, origin = true, defaultToGlobal = true } = {}) =>
  get("/config" + settings(subject), { signal, query: { defaultToGlobal, origin } });

/**
 * @param {string} subject
 * @param {Record<string, unknown>} value
 */
export const putConfig = (subject, value) => write("PUT", "/config" + settings(subject), value);

/**
 * @param {string} [subject]
 * @param {Options & {origin?: boolean, defaultToGlobal?: boolean}} [options]
 */
export const mode = (subject = "", { signal, origin = true, defaultToGlobal = true } = {}) =>
  get("/mode" + settings(subject), { signal, query: { defaultToGlobal, origin } });

/**
 * @param {string} subject
 * @param {string} value
 * @param {{force?: boolean}} [options]
 */
export const putMode = (subject, value, { force } = {}) =>
  write("PUT", "/mode" + settings(subject), { mode: value }, { query: { force } });

/** @param {string} subject */
export const deleteMode = (subject) => write("DELETE", "/mode" + settings(subject));

/**
 * @param {string} subject
 * @param {{permanent?: boolean}} [options]
 */
export const deleteSubject = (subject, { permanent } = {}) =>
  write("DELETE", path`/subjects/${subject}`, undefined, { query: { permanent } });

/**
 * @param {string} subject
 * @param {number | string} number
 * @param {{permanent?: boolean}} [options]
 */
export const deleteVersion = (subject, number, { permanent } = {}) =>
  write("DELETE", path`/subjects/${subject}/versions/${number}`, undefined, { query: { permanent } });

/**
 * Restores a soft-deleted version; without a number, all versions of the subject.
 * @param {string} subject
 * @param {number | string} [number]
 */
export const undelete = (subject, number) =>
  write(
    "POST",
    number === undefined ? path`/subjects/${subject}/undelete` : path`/subjects/${subject}/versions/${number}/undelete`,
  );

/**
 * @param {string} subject
 * @param {number | string} number
 * @param {{depth?: number, direction?: string}} [query]
 * @param {Options} [options]
 */
export const graph = (subject, number, query = {}, { signal } = {}) =>
  get(path`/subjects/${subject}/versions/${number}/graph`, { signal, query });

/** @param {Options} [options] */
export const contexts = ({ signal } = {}) => get("/contexts", { signal, context: false });

/** @param {Options} [options] */
export const types = ({ signal } = {}) => get("/schemas/types", { signal, context: false });

/**
 * @param {string} subject
 * @param {number | string} number
 * @param {unknown} change `tagsToAdd`, `tagsToRemove`, `newVersion`
 */
export const tags = (subject, number, change) =>
  write("POST", path`/subjects/${subject}/versions/${number}/tags`, change);

/** The node's health, also if the node is not ready. @param {Options} [options] */
export const health = ({ signal } = {}) => get("/health/ready", { signal, context: false });

/**
 * Imports an export's lines. With `dryRun`, the registry writes nothing and returns the expected result.
 * @param {string | Blob} lines
 * @param {Options & {dryRun?: boolean, handWritten?: boolean}} [options]
 */
export const importLines = (lines, { dryRun, handWritten, signal } = {}) =>
  write("POST", "/import", lines, {
    signal,
    query: { dryRun, lines: handWritten },
    headers: { "Content-Type": "application/x-ndjson" },
  });
