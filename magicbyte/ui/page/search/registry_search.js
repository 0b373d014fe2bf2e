/** The search that only the registry can do: in fields, texts and tags. */
import * as registry from "../api/registry.js";
import { asksRegistry } from "./query.js";

/**
 * @typedef {{subject: string, version: number, fields?: string[], name?: string, excerpt?: string, line?: number}} Hit
 * @typedef {{hits: Hit[], subjects: Set<string>, total: number}} Hits by subject, the newest version of each
 */

/**
 * Asks the registry for the subjects of a search.
 * @param {import("./query.js").SearchQuery} query
 * @param {string} place `fields` or `texts`; `names` asks for the words with a name in front alone
 * @param {{signal?: AbortSignal, limit?: number, deleted?: boolean}} [options]
 * @returns {Promise<Hits>}
 */
export async function searchRegistry(query, place, { signal, limit = 1000, deleted = false } = {}) {
  const words = query.words.join(" ");
  /** @type {import("../types.d.ts").Query} */
  const asked = { latestOnly: true, limit, deleted, type: query.type, tag: query.tag, field: query.field };
  if (query.text) Object.assign(asked, { q: query.text, in: "text" });
  else if (place !== "names" && words) Object.assign(asked, { q: words, in: place === "fields" ? "field" : "text" });
  const answer = await registry.searchAnswer(asked, { signal });
  /** @type {Hit[]} */
  const hits = Array.isArray(answer.data) ? answer.data : answer.data.hits ?? answer.data.results ?? [];
  /** @type {Map<string, Hit>} */
  const first = new Map();
  for (const hit of hits) if (!first.has(hit.subject)) first.set(hit.subject, hit);
  const total = Number(answer.headers.get("x-total-count") ?? answer.data.total ?? first.size);
  return { hits: [...first.values()], subjects: new Set(first.keys()), total };
}

/** Whether the registry must be asked for the rows of a search. @param {import("./query.js").SearchQuery} query @param {string} place */
export const needsRegistry = (query, place) => asksRegistry(query) || (place !== "names" && query.words.length > 0);
