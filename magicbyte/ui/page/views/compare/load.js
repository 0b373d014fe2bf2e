/** Loads the registry's comparison, both texts, and their differences by line. */

import * as registry from "../../api/registry.js";
import { call } from "../../api/client.js";
import { path } from "../../api/encode_url.js";
import { compareTexts, layOut } from "../../text/in_worker.js";
import { textOf } from "./rows.js";

/** @import { Comparison } from "../../text/answers.d.ts" */
/** @import { Row } from "../../text/diff.js" */
/** @import { SchemaType } from "../../text/pretty.js" */
/** @import { Text } from "./rows.js" */
/** A version as the API returns it. */
/** @typedef {{subject: string, version: number, id: number, schema: string, schemaType?: SchemaType, ts?: number, deleted?: boolean,
 *   references?: unknown[]}} Version */
/** @typedef {{before: Text, after: Text, rows: Row[]}} Texts */
/**
 * @typedef {object} Loaded
 * @property {Comparison | null} comparison null if the registry returns none
 * @property {any} refusal the error of the comparison; null if there is a comparison
 * @property {{is_compatible: boolean, messages?: string[]} | null} verbose the verdict of a registry that has no
 *   comparisons
 * @property {Version} from
 * @property {Version} to
 * @property {Texts | null} texts null if the comparison by line takes too long
 */

/**
 * @param {string} subject
 * @param {{from?: string, to?: string, fromSubject?: string}} query
 * @param {AbortSignal} signal
 * @returns {Promise<Loaded>}
 */
export async function load(subject, { from, to, fromSubject }, signal) {
  const compared = registry.compare(subject, { from, to, fromSubject, deleted: true }, { signal })
    .then((comparison) => ({ comparison, refusal: null }), (refusal) => ({ comparison: null, refusal }));
  const older = fromSubject || subject;
  /** @type {Promise<[Version, Version]>} */
  const texts = from && to
    ? Promise.all([readVersion(older, from, signal), readVersion(subject, to, signal)])
    : compared.then(async ({ comparison, refusal }) => {
      const sides = comparison
        ? [comparison.from.version, comparison.to.version]
        : await sidesOf(subject, from, to, refusal, signal);
      return await Promise.all([
        readVersion(older, sides[0], signal),
        readVersion(subject, sides[1], signal),
      ]);
    });
  // Report a missing text first: it explains why the comparison failed.
  const [{ comparison, refusal }, [left, right]] = await Promise.all([compared, texts]);
  if (signal.aborted) throw signal.reason;
  const verbose = comparison || !isMissing(refusal) ? null : await verboseCheck(left, right, signal);
  return {
    comparison,
    refusal,
    verbose,
    from: { ...left, subject: older },
    to: { ...right, subject },
    texts: await textsOf(left, right, signal),
  };
}

/** @param {Version} left @param {Version} right @param {AbortSignal} signal @returns {Promise<Texts | null>} */
async function textsOf(left, right, signal) {
  const before = { text: left.schema, type: left.schemaType ?? "AVRO" };
  const after = { text: right.schema, type: right.schemaType ?? "AVRO" };
  const rows = await compareTexts(before, after, signal);
  if (rows === null) return null;
  const [older, newer] = await Promise.all([layOut(before, signal), layOut(after, signal)]);
  return { before: textOf(older), after: textOf(newer), rows };
}

/** Whether the registry lacks the comparison's route, because it is not ours. @param {any} refusal */
function isMissing(refusal) {
  return refusal?.status === 405 || (refusal?.status === 404 && ![40401, 40402].includes(refusal.code));
}

/** @param {Version} older @param {Version} newer @param {AbortSignal} signal */
async function verboseCheck(older, newer, signal) {
  const { schema, schemaType, references } = newer;
  const address = path`/compatibility/subjects/${older.subject}/versions/${older.version}`;
  try {
    return (await call("POST", address, { body: { schema, schemaType, references }, query: { verbose: true }, signal }))
      .data;
  } catch {
    return null;
  }
}

/** @param {string} subject @param {number | string} version @param {AbortSignal} signal */
function readVersion(subject, version, signal) {
  return registry.version(subject, version, { signal, deleted: true });
}

/**
 * The versions to show if the comparison failed: the newest version and the version before it.
 * @param {string} subject
 * @param {string | undefined} from
 * @param {string | undefined} to
 * @param {any} refusal
 * @param {AbortSignal} signal
 * @returns {Promise<[number | string, number | string]>}
 */
async function sidesOf(subject, from, to, refusal, signal) {
  /** @type {number[]} */
  const versions = await registry.versions(subject, { signal, deleted: true });
  const newer = to ?? versions.at(-1);
  const before = versions.filter((version) => version < Number(newer)).at(-1) ?? newer;
  if (newer === undefined) throw refusal;
  return [from ?? /** @type {number} */ (before), newer];
}
