/** A search as a hook: what it has found so far, and how far it is. */
import { search } from "../../../api/messages.js";
import { useLines } from "../../../parts/use_lines.js";

/** @typedef {import("../../../api/messages.js").SearchRequest} SearchRequest */

/** @param {SearchRequest} wanted @param {AbortSignal} signal */
async function* ask(wanted, signal) {
  for await (const { record, ...progress } of search(wanted, signal)) yield { row: record, ...progress };
}

/**
 * Searches when the request changes; leaving the page ends the search on the server, too.
 * @param {SearchRequest} wanted
 */
export function useSearch(wanted) {
  const { rows: records, ...state } = useLines(wanted, ask);
  return { ...state, records };
}
