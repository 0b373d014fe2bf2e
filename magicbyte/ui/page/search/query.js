/** Parses a search: plain words, and `name:value` for a property. Pure. */

/** The names of properties. */
export const NAMES = ["id", "guid", "field", "type", "tag", "text", "level", "topic", "context", "deleted"];

/**
 * @typedef {{words: string[], id: string, guid: string, field: string, type: string, tag: string, text: string, level: string,
 *   topic: string, context: string | null, deleted: string}} SearchQuery all in lower case except `context` and `text`
 */

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @type {Record<string, string>} */
const TYPES = { avro: "AVRO", json: "JSON", "json-schema": "JSON", protobuf: "PROTOBUF", proto: "PROTOBUF" };

/**
 * Parses the typed text. A number counts as an id and as a word; so does a guid.
 * @param {string} typed
 * @returns {SearchQuery}
 */
export function readQuery(typed) {
  /** @type {SearchQuery} */
  const query = {
    words: [],
    id: "",
    guid: "",
    field: "",
    type: "",
    tag: "",
    text: "",
    level: "",
    topic: "",
    context: null,
    deleted: "",
  };
  for (const [, name, quoted, plain] of typed.matchAll(/(?:([a-z]+):(?!:))?(?:"([^"]*)"|([^\s"]+))/gi)) {
    const value = quoted ?? plain;
    const key = /** @type {keyof SearchQuery} */ (name?.toLowerCase());
    if (name === undefined || !NAMES.includes(key)) query.words.push(((name ? name + ":" : "") + value).toLowerCase());
    else Object.assign(query, { [key]: valueOf(key, value) });
  }
  if (query.words.length === 1 && /^\d+$/.test(query.words[0])) query.id = query.id || query.words[0];
  if (query.words.length === 1 && GUID.test(query.words[0])) query.guid = query.guid || query.words[0];
  return query;
}

/** @param {string} key @param {string} value */
function valueOf(key, value) {
  if (key === "type") return TYPES[value.toLowerCase()] ?? value.toUpperCase();
  if (key === "level") return value.toUpperCase();
  return ["context", "text", "field", "tag"].includes(key) ? value : value.toLowerCase();
}

/** Whether the query has the id or guid of a schema, which several versions may share. @param {SearchQuery} query */
export const namesSchema = (query) => /^\d+$/.test(query.id) || GUID.test(query.guid);

/** Whether only the registry can answer the query. @param {SearchQuery} query */
export const asksRegistry = (query) => Boolean(query.field || query.tag || query.text);

/**
 * The parts of a name; parts that match a word of the search are marked.
 * @param {string} name
 * @param {string[]} words lower case
 * @returns {{text: string, hit: boolean}[]}
 */
export function marked(name, words) {
  const lower = name.toLowerCase();
  // The lower-case name may differ in length; then mark nothing.
  if (lower.length !== name.length || words.length === 0) return [{ text: name, hit: false }];
  /** @type {[number, number][]} */
  const hits = [];
  for (const word of words) {
    const at = lower.indexOf(word);
    if (at >= 0) hits.push([at, at + word.length]);
  }
  hits.sort((left, right) => left[0] - right[0]);
  const parts = [];
  let end = 0;
  for (const [from, to] of hits) {
    if (to <= end) continue;
    if (from > end) parts.push({ text: name.slice(end, from), hit: false });
    parts.push({ text: name.slice(Math.max(from, end), to), hit: true });
    end = to;
  }
  if (end < name.length) parts.push({ text: name.slice(end), hit: false });
  return parts;
}
