/** The registry's results for a search of the list: rows of `in=fields` and `in=texts`, and the chips' counts. */
import { hasOverview } from "../api/features.js";
import { useRequest } from "../parts/use_request.js";
import { context, qualified } from "../state/signals.js";
import { valueOr } from "../api/fact.js";
import { usesOf } from "../api/uses.js";
import { namesSchema } from "./query.js";
import { countHits, fragmentOf, needsRegistry, searchRegistry } from "./registry_search.js";

const PAUSE_MS = 250;

/** Waits for a pause between keys. @param {AbortSignal} signal */
export const pause = (signal) =>
  new Promise((resolve, reject) => {
    setTimeout(resolve, PAUSE_MS);
    signal.addEventListener("abort", () => reject(signal.reason));
  });

/**
 * The subjects of the page's context that have a schema, each with its newest version with the schema; a live version
 * if possible.
 * @param {import("./query.js").SearchQuery} read
 * @param {AbortSignal} signal
 * @returns {Promise<Map<string, number>>}
 */
async function holdersOf({ id, guid }, signal) {
  /** @type {Map<string, {version: number, deleted: boolean}>} */
  const held = new Map();
  try {
    const { contexts } = await usesOf(guid ? { guid } : { id }, signal);
    for (const use of contexts.flatMap(({ uses }) => uses ? valueOr(uses, []) : [])) {
      const before = held.get(use.subject);
      const isBetter = !before || (before.deleted && !use.deleted) ||
        (before.deleted === use.deleted && use.version > before.version);
      if (isBetter) held.set(use.subject, use);
    }
  } catch (error) {
    // No schema has this id.
    if (/** @type {any} */ (error).status !== 404) throw error;
  }
  return new Map([...held].map(([subject, { version }]) => [qualified(subject), version]));
}

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
  const named = namesSchema(read);
  const holders = useRequest(
    named ? (signal) => pause(signal).then(() => holdersOf(read, signal)) : null,
    [named, read.id, read.guid, context.value],
  );
  const hits = asks ? rows.data : undefined;
  /** @type {Record<string, number | null>} */
  const totals = { fields: null, texts: null, ...(asks && hits ? { [place]: hits.total } : counted.data) };
  /** @type {Map<string, {text: string, hash: string, version?: number}>} */
  const excerpts = new Map(
    (hits?.hits ?? []).map((
      hit,
    ) => [hit.subject, { text: hit.excerpt ?? hit.fields?.join(", ") ?? "", hash: fragmentOf(hit) }]),
  );
  /** @type {Map<string, number> | null} */
  const held = (named && holders.data) || null;
  for (const [subject, version] of held ?? []) excerpts.set(subject, { text: `version ${version}`, hash: "", version });
  return {
    among: hits?.subjects ?? null,
    holders: held,
    excerpts,
    totals,
    loading: (asks && rows.loading) || (named && holders.loading),
    error: asks && hits === undefined ? rows.error : null,
    reload: rows.reload,
  };
}
