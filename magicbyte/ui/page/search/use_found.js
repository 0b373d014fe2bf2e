/** The registry's results for a search of the list: rows of `in=fields` and `in=texts`, and the chips' counts. */
import { hasOverview } from "../api/features.js";
import { useRequest } from "../parts/use_request.js";
import { countHits, fragmentOf, needsRegistry, searchRegistry } from "./registry_search.js";

const PAUSE_MS = 250;

/** Waits for a pause between keys. @param {AbortSignal} signal */
export const pause = (signal) =>
  new Promise((resolve, reject) => {
    setTimeout(resolve, PAUSE_MS);
    signal.addEventListener("abort", () => reject(signal.reason));
  });

/**
 * @param {import("./query.js").SearchQuery} read
 * @param {string} place names, fields or texts
 * @param {boolean} deleted
 */
export function useFound(read, place, deleted) {
  const words = read.words.join(" ");
  const asks = needsRegistry(read, place);
  const rows = useRequest(
    asks ? (signal) => pause(signal).then(() => searchRegistry(read, place, { signal, deleted })) : null,
    [asks, place, deleted, JSON.stringify(read)],
  );
  const counted = useRequest(
    words && !asks && hasOverview()
      ? async (signal) => {
        await pause(signal);
        return await countHits(read, { signal, deleted });
      }
      : null,
    [words, asks, deleted],
  );
  const hits = asks ? rows.data : undefined;
  /** @type {Record<string, number | null>} */
  const totals = { fields: null, texts: null, ...(asks && hits ? { [place]: hits.total } : counted.data) };
  const excerpts = new Map(
    (hits?.hits ?? []).map((
      hit,
    ) => [hit.subject, { text: hit.excerpt ?? hit.fields?.join(", ") ?? "", hash: fragmentOf(hit) }]),
  );
  return {
    among: hits?.subjects ?? null,
    excerpts,
    totals,
    loading: asks && rows.loading,
    error: asks && hits === undefined ? rows.error : null,
    reload: rows.reload,
  };
}
