/** Converts the URL of the messages page into a request to the server. Pure. */

/** @typedef {import("../../../api/messages.js").SearchRequest} SearchRequest */

/** The most records of a page. */
export const PAGE = 50;

/** The formats of keys and values, with their labels. @type {[string, string][]} */
export const KINDS = [
  ["message", "by schema id"],
  ["text", "text"],
  ["json", "JSON"],
  ["int", "int"],
  ["long", "long"],
  ["short", "short"],
  ["float", "float"],
  ["double", "double"],
  ["uuid", "UUID"],
  ["hex", "hex"],
  ["base64", "base64"],
  ["schema", "a schema"],
];

/**
 * The request of a URL's query. By default, records from an offset or a time come oldest first, others newest first.
 * @param {string} topic
 * @param {Record<string, string>} query
 * @param {string} context
 * @returns {SearchRequest}
 */
export function searchRequest(topic, query, context = "") {
  const since = timeOf(query.since);
  const until = timeOf(query.until);
  const offset = numberOf(query.offset);
  const partition = numberOf(query.partition);
  return {
    topic,
    ...(context ? { context } : {}),
    ...(partition === undefined ? {} : { partitions: [partition] }),
    order: orderOf(query),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(offset === undefined ? {} : { offset }),
    ...(query.cursor ? { cursor: query.cursor } : {}),
    ...(query.q?.trim() ? { filter: query.q.trim() } : {}),
    ...readingOf(query),
    limit: PAGE,
  };
}

/**
 * The request's fields that say how to decode keys and values.
 * @param {Record<string, string>} query
 * @returns {Partial<SearchRequest>}
 */
export const readingOf = ({ key, value, raw }) => ({
  ...(isKind(key) ? { keyAs: key } : {}),
  ...(isKind(value) ? { valueAs: value } : {}),
  ...(raw === "true" ? { logical: false, unions: "tagged" } : {}),
});

/** @param {Record<string, string>} query @returns {"newest" | "oldest"} */
export function orderOf({ order, offset, since }) {
  if (order === "newest" || order === "oldest") return order;
  return numberOf(offset) !== undefined || timeOf(since) !== undefined ? "oldest" : "newest";
}

/**
 * Whether a kind other than the default is chosen and complete: `schema` needs an id.
 * @param {string | undefined} text
 */
const isKind = (text) => !["message", "schema", "schema:", ""].includes(text ?? "");

/** @param {string | undefined} text */
const numberOf = (text) => /^\d{1,15}$/.test(text ?? "") ? Number(text) : undefined;

/** A time in ms since the epoch, from ms or ISO-8601. @param {string | undefined} text */
export function timeOf(text) {
  if (!text) return undefined;
  const time = /^\d{1,16}$/.test(text) ? Number(text) : /^\d{4}-\d\d/.test(text) ? Date.parse(text) : NaN;
  return time >= 0 ? time : undefined;
}

/** The kind's select and the schema's id: `schema:7` is a schema, with id 7. @param {string | undefined} kind */
export function splitKind(kind = "message") {
  return kind.startsWith("schema") ? { kind: "schema", id: kind.slice("schema:".length) } : { kind, id: "" };
}
