/** Reads the listing's row of one subject, without the whole listing. */
import * as registry from "../../api/registry.js";
import { hasOverview, lacks } from "../../api/features.js";
import { isMissingRoute } from "../../api/transport.js";
import { listingRow, newestFor } from "../../state/listing_columns.js";
import { changes, overview, qualified } from "../../state/signals.js";
import { effect, useEffect } from "../../vendor/ui.js";
import { useRequest } from "../../parts/use_request.js";

/** @typedef {import("../../state/types.d.ts").Facts} Facts */

/**
 * The subject's row of the listing, kept up to date; undefined until it has loaded, null if there is none.
 * @param {string} subject
 * @returns {Facts | null | undefined}
 */
export function useSubject(subject) {
  const listing = overview.value;
  const name = qualified(subject);
  const listed = Boolean(listing);
  const asked = useRequest(listed || !subject ? null : () => rowOf(name), [name, listed]);
  useEffect(() => {
    if (listed || !subject) return;
    let seen = newestFor(name, changes.peek());
    return effect(() => {
      const newest = newestFor(name, changes.value);
      if (newest <= seen) return;
      seen = newest;
      asked.reload();
    });
  }, [name, listed]);
  if (listing) return listingRow(listing, listing.subject.indexOf(name));
  return asked.data;
}

/**
 * The running requests by name and newest change. The head and the view of a page share a request for the same row.
 * @type {Map<string, Promise<Facts | null>>}
 */
const running = new Map();

/**
 * @param {string} name
 * @returns {Promise<Facts | null>}
 */
function rowOf(name) {
  // A request that began before a change may return the old row.
  const key = `${newestFor(name, changes.peek())} ${name}`;
  const shared = running.get(key) ?? readRow(name).finally(() => running.delete(key));
  running.set(key, shared);
  return shared;
}

/**
 * @param {string} name
 * @returns {Promise<Facts | null>}
 */
async function readRow(name) {
  if (!hasOverview()) return null;
  // The subject itself sorts first among the names with this prefix.
  try {
    const listing = await registry.overview({ prefix: name, limit: 1 });
    return listingRow(listing, listing.subject.indexOf(name));
  } catch (error) {
    if (!isMissingRoute(error)) throw error;
    lacks("overview");
    return null;
  }
}
