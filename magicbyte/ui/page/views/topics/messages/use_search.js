/** A search as a hook: the results so far and the progress. */
import { search } from "../../../api/messages.js";
import { useLines } from "../../../parts/use_lines.js";

/** @typedef {import("../../../api/messages.js").SearchRequest} SearchRequest */

/** @param {SearchRequest} wanted @param {AbortSignal} signal */
async function* ask(wanted, signal) {
  for await (const { record, ...progress } of search(wanted, signal)) yield { row: record, ...progress };
}

/**
 * Searches when the request changes. Leaving the page also stops the search on the server.
 * @param {SearchRequest} wanted
 */
export function useSearch(wanted) {
  const { rows: records, ...state } = useLines(wanted, ask);
  return { ...state, records };
}
