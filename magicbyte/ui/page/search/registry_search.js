/** The registry's part of a search: fields, texts and tags. */
import * as registry from "../api/registry.js";
import { asksRegistry } from "./query.js";

/**
 * @typedef {{subject: string, version: number, fields?: string[], name?: string, excerpt?: string, line?: number,
 *   column?: number}} Hit
 * @typedef {{hits: Hit[], subjects: Set<string>, total: number}} Hits by subject, the newest version of each
 */

/** The fragment of a match's position in a text; empty for matches elsewhere. @param {Hit} hit */
export const fragmentOf = ({ line, column }) => line === undefined ? "" : `at-${line}-${column ?? 1}`;

/**
 * Asks the registry for the subjects of a search.
 * @param {import("./query.js").SearchQuery} query
 * @param {string} place `fields` or `texts`; `names` sends only the properties, not the plain words
 * @param {{signal?: AbortSignal, limit?: number, deleted?: boolean}} [options]
 * @returns {Promise<Hits>}
 */
export async function searchRegistry(query, place, { signal, limit = 1000, deleted = false } = {}) {
  const words = query.words.join(" ");
  /** @type {import("../api/types.d.ts").Query} */
  const asked = { latestOnly: true, limit, deleted, type: query.type, tag: query.tag, field: query.field };
  if (query.text) Object.assign(asked, { q: query.text, in: "text" });
  else if (place !== "names" && words) Object.assign(asked, { q: words, in: place === "fields" ? "field" : "text" });
  const answer = await registry.searchAnswer(asked, { signal });
  /** @type {Hit[]} */
  const hits = Array.isArray(answer.data) ? answer.data : answer.data.hits;
  /** @type {Map<string, Hit>} */
  const first = new Map();
  for (const hit of hits) if (!first.has(hit.subject)) first.set(hit.subject, hit);
  const total = Array.isArray(answer.data) ? first.size : answer.data.total;
  return { hits: [...first.values()], subjects: new Set(first.keys()), total };
}

/**
 * Counts the versions that have the words in a field, and in their text.
 * @param {import("./query.js").SearchQuery} query
 * @param {{signal?: AbortSignal, deleted?: boolean}} [options]
 * @returns {Promise<Record<string, number | null>>}
 */
export async function countHits(query, { signal, deleted = false } = {}) {
  const asked = { latestOnly: true, limit: 1, deleted, type: query.type, q: query.words.join(" "), in: "field,text" };
  const { data } = await registry.searchAnswer(asked, { signal });
  // A registry without full-text search returns a list of all versions.
  if (Array.isArray(data)) return { fields: null, texts: null };
  return { fields: data.in?.field ?? 0, texts: data.in?.text ?? 0 };
}

/**
 * Whether only the registry can find the rows of a search.
 * @param {import("./query.js").SearchQuery} query
 * @param {string} place
 */
export const needsRegistry = (query, place) => asksRegistry(query) || (place !== "names" && query.words.length > 0);
