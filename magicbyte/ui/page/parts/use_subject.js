/** What the listing knows of one subject, without reading the whole listing. */
import * as registry from "../api/registry.js";
import { hasOverview } from "../api/features.js";
import { listingRow } from "../listing.js";
import { overview, qualified } from "../state.js";
import { useRequest } from "./use_request.js";

/** @typedef {import("../types.d.ts").Facts} Facts */

/**
 * The subject's row of the listing; undefined while it is not read, null if there is none.
 * @param {string} subject
 * @returns {Facts | null | undefined}
 */
export function useSubject(subject) {
  const listing = overview.value;
  const name = qualified(subject);
  const asked = useRequest(listing || !subject ? null : () => rowOf(name), [name, Boolean(listing)]);
  if (listing) return listingRow(listing, listing.subject.indexOf(name));
  return asked.data;
}

/** The running requests by name: the head and the view of a page ask for the same row. @type {Map<string, Promise<Facts | null>>} */
const running = new Map();

/**
 * @param {string} name
 * @returns {Promise<Facts | null>}
 */
function rowOf(name) {
  const shared = running.get(name) ?? readRow(name).finally(() => running.delete(name));
  running.set(name, shared);
  return shared;
}

/**
 * @param {string} name
 * @returns {Promise<Facts | null>}
 */
async function readRow(name) {
  if (!hasOverview()) return null;
  // The subject itself is the first one with its name as the prefix.
  const listing = await registry.overview({ prefix: name, limit: 1 });
  return listingRow(listing, listing.subject.indexOf(name));
}
