/** The listing of subjects in columns: rows, names by context, and changes from the feed. Pure. */

/** @typedef {import("../api/types.d.ts").Overview} Overview */
/** @typedef {import("./types.d.ts").Facts} Facts */

/** @type {(keyof Facts)[]} */
const COLUMNS = [
  "subject",
  "type",
  "version",
  "versions",
  "deletedVersions",
  "deleted",
  "id",
  "ts",
  "references",
  "level",
  "ownLevel",
  "mode",
  "ownMode",
];

/**
 * One row of the listing; null for -1.
 * @param {Overview} listing
 * @param {number} at
 * @returns {Facts | null}
 */
export function listingRow(listing, at) {
  if (at < 0) return null;
  const row = /** @type {any} */ ({});
  for (const column of COLUMNS) row[column] = listing[column]?.[at] ?? null;
  return row;
}

/**
 * The listing of a registry that returns only names.
 * @param {string[]} names names with or without live versions
 * @param {string[]} live the names with live versions
 * @returns {Overview}
 */
export function listingOfNames(names, live = names) {
  const alive = new Set(live);
  const listing = /** @type {any} */ ({ offset: -1, total: names.length });
  for (const column of COLUMNS) listing[column] = names.map(() => null);
  listing.subject = [...names];
  listing.deleted = names.map((name) => !alive.has(name));
  return listing;
}

/**
 * Applies changes of the feed. `stale` has the subjects whose rows must be read from the registry.
 * @param {Overview} listing
 * @param {Record<string, any>[]} changes
 * @returns {{listing: Overview, stale: string[], whole: boolean}} `whole`: the listing must be read again
 */
export function patched(listing, changes) {
  const offset = Math.max(listing.offset, ...changes.map((change) => change.offset));
  const stale = new Set();
  let whole = false;
  for (const change of changes) {
    if (concernsAll(change)) whole = true;
    else stale.add(change.subject);
  }
  return { listing: { ...listing, offset }, stale: [...stale], whole };
}

/** Whether any row may have changed: after a reset, or by settings of the registry or of a context. @param {Record<string, any>} change */
const concernsAll = (change) =>
  change.type === "reset" || change.subject === null || change.subject === undefined ||
  /^:[^:]*:$/.test(change.subject);

/**
 * The offset of the newest change that may concern a subject's row; -1 if there is none.
 * @param {string} subject
 * @param {Record<string, any>[]} changes newest first
 * @returns {number}
 */
export function newestFor(subject, changes) {
  return changes.find((change) => change.subject === subject || concernsAll(change))?.offset ?? -1;
}

/**
 * Puts one subject's row in its place; without a row the subject is gone.
 * @param {Overview} listing
 * @param {string} subject
 * @param {Facts | null} row
 * @returns {Overview}
 */
export function withRow(listing, subject, row) {
  const at = listing.subject.indexOf(subject);
  const place = at >= 0 ? at : placeOf(listing.subject, subject);
  const result = /** @type {any} */ ({ ...listing });
  for (const column of COLUMNS) {
    const values = [...(/** @type {any[]} */ (listing[column] ?? []))];
    values.splice(place, at >= 0 ? 1 : 0, ...(row ? [row[column]] : []));
    result[column] = values;
  }
  return result;
}

/**
 * The index at which a name belongs in sorted names.
 * @param {string[]} names
 * @param {string} name
 */
function placeOf(names, name) {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (names[middle] < name) low = middle + 1;
    else high = middle;
  }
  return low;
}
