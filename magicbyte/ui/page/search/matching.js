/**
 * Filters subjects by a search and the chips, and counts each chip's rows. Pure, and fast enough to run on each key
 * press.
 */
import { splitSubject } from "../text/split_subject.js";

/** @typedef {import("../api/types.d.ts").Overview} Overview */
/** @typedef {{type?: string, own?: boolean, deleted?: boolean}} Chips */

/** The subjects' names, split into context and name. */
class Names {
  /** @type {string[] | null} */
  #lower = null;

  /** @param {string[]} subjects */
  constructor(subjects) {
    /** The context of each subject; empty for the default context. @type {string[]} */
    this.context = [];
    /** @type {string[]} */
    this.name = [];
    for (const subject of subjects) {
      const { context, name } = splitSubject(subject);
      this.context.push(context);
      this.name.push(name);
    }
  }

  /** The names in lower case, computed on first use: the first rows need none. */
  get lower() {
    return this.#lower ??= this.name.map((name) => name.toLowerCase());
  }
}

/** Computed once for each listing. @type {WeakMap<string[], Names>} */
const NAMES = new WeakMap();

/** @param {Overview} listing @returns {Names} */
export function namesOf(listing) {
  const names = NAMES.get(listing.subject) ?? new Names(listing.subject);
  NAMES.set(listing.subject, names);
  return names;
}

/**
 * @param {Overview} listing
 * @param {import("./query.js").SearchQuery} query
 * @param {string} context the page's context; empty for the default one
 * @param {Chips} chips
 * @param {Set<string> | null} [among] only these subjects, if the registry searched
 * @param {Map<string, number> | null} [holders] subject -> the version that has the query's schema
 */
export function matching(listing, query, context, chips, among = null, holders = null) {
  const names = namesOf(listing);
  const inContext = query.context === null ? context : query.context === "." ? "" : query.context;
  const words = isWord(query) ? [] : query.words;
  const wantsDeleted = chips.deleted || query.deleted === "true";
  const all = words.length === 0 && !query.id && !query.guid && !query.type && !query.level && !query.topic;
  const rows = [];
  const counts = { all: 0, AVRO: 0, JSON: 0, PROTOBUF: 0, hidden: 0, own: 0, deleted: 0, elsewhere: 0, total: 0 };
  for (let at = 0; at < listing.subject.length; at++) {
    const here = names.context[at] === inContext;
    if (here && !listing.deleted[at]) counts.total++;
    if (among ? !among.has(listing.subject[at]) : !all && !fits(listing, names, at, query, words, holders)) continue;
    if (!here) {
      counts.elsewhere++;
      continue;
    }
    if (listing.deleted[at]) counts.deleted++;
    if (Boolean(listing.deleted[at]) !== Boolean(wantsDeleted)) continue;
    // The type is null if the user may not read the subject; then it counts for no type.
    const type = /** @type {"AVRO" | "JSON" | "PROTOBUF" | null} */ (listing.type[at]);
    const own = Boolean(listing.ownLevel[at]);
    counts.all++;
    if (!chips.own || own) counts[type ?? "hidden"]++;
    if (own && (!chips.type || chips.type === type)) counts.own++;
    if (chips.type && type !== chips.type) continue;
    if (chips.own && !own) continue;
    rows.push(at);
  }
  return { rows, counts };
}

/**
 * @param {Overview} listing
 * @param {Names} names
 * @param {number} at
 * @param {import("./query.js").SearchQuery} query
 * @param {string[]} words
 * @param {Map<string, number> | null} holders
 */
function fits(listing, names, at, query, words, holders) {
  const name = names.lower[at];
  for (const word of words) if (!name.includes(word)) return false;
  if (query.id || query.guid) {
    const isNamed = isWord(query) && name.includes(query.words[0]);
    const has = holders?.has(listing.subject[at]) || (query.id && String(listing.id[at]) === query.id);
    if (!has && !isNamed) return false;
  }
  if (query.type && listing.type[at] !== query.type) return false;
  if (query.level && listing.level[at] !== query.level) return false;
  if (query.topic && name !== query.topic + "-key" && name !== query.topic + "-value") return false;
  return true;
}

/**
 * Whether an id or guid was typed without `id:` or `guid:`, so that it may be part of a subject's name.
 * @param {import("./query.js").SearchQuery} query
 */
const isWord = ({ words, id, guid }) => words.length === 1 && (words[0] === id || words[0] === guid);

/** The column of each sort order in the URL. @type {Record<string, keyof Overview>} */
const SORTS = { type: "type", versions: "versions", level: "level", changed: "ts" };

/**
 * Sorts rows; a leading `-` reverses the order. Without `sort`, the rows stay sorted by name.
 * @param {Overview} listing
 * @param {number[]} rows
 * @param {string} sort name, type, versions, level or changed
 */
export function sorted(listing, rows, sort) {
  const turned = sort.startsWith("-");
  const column = SORTS[turned ? sort.slice(1) : sort];
  if (!column) return turned ? [...rows].reverse() : rows;
  const values = /** @type {any[]} */ (listing[column]);
  const sign = turned ? -1 : 1;
  return [...rows].sort((left, right) => {
    const [a, b] = [values[left] ?? "", values[right] ?? ""];
    return a < b ? -sign : a > b ? sign : left - right;
  });
}
