/** Converts the selection of letters in the URL into requests and commands. Pure. */
import { quote } from "../../api/curl.js";
import { timeOf } from "../topics/messages/search_request.js";

/** @typedef {import("../../api/dead_letters.js").LetterRequest} LetterRequest */
/** @typedef {import("../../api/dead_letters.js").Place} Place */
/** @typedef {import("../../api/dead_letters.js").Repair} Repair */
/** @typedef {Record<string, string>} Query */

/** The groupings of letters, with their labels. @type {[string, string][]} */
export const GROUPINGS = [["reason", "reason"], ["topic", "topic"], ["schema-id", "schema id"], [
  "pipeline",
  "pipeline",
]];
/** The formats that a key or value must have, with their labels. @type {[string, string][]} */
export const FORMATS = [["auto", "by its frame"], ["schema", "always a schema"], ["json", "JSON"], [
  "bytes",
  "any bytes",
]];
/** The number of letters that are listed, and the default maximum of a replay. */
export const LISTED = 100;
export const REPLAYED = 100;
/** The largest maximum of a replay. */
export const MOST_REPLAYED = 2000;
/** The most letters that the user may pick; the picks are in the URL. */
export const MOST_PICKED = 200;

/** The column of a grouping's names. @type {Record<string, string>} */
const COLUMNS = { reason: "fingerprint", topic: "topic", "schema-id": "schema_id", pipeline: "pipeline" };
const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The request for the letters of a URL's query.
 * @param {string} topic
 * @param {Query} query
 * @param {string} [context]
 * @returns {LetterRequest}
 */
export function letterRequest(topic, query, context = "") {
  const since = timeOf(query.since);
  const until = timeOf(query.until);
  return {
    topic,
    ...(context ? { context } : {}),
    by: groupingOf(query),
    ...(query.where?.trim() ? { where: query.where.trim() } : {}),
    ...(query.group ? { group: query.group } : {}),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(query.replayed === "true" ? { replayed: true } : query.replayed === "false" ? { replayed: false } : {}),
    letters: LISTED,
  };
}

/** @param {Query} query */
export const groupingOf = ({ by = "" }) => by in COLUMNS ? by : "reason";

/** The picked letters. @param {Query} query @returns {Place[]} */
export function picksOf({ pick = "" }) {
  if (!/^\d{1,9}:\d{1,15}(,\d{1,9}:\d{1,15})*$/.test(pick)) return [];
  return pick.split(",").slice(0, MOST_PICKED).map((text) => {
    const [partition, offset] = text.split(":").map(Number);
    return { partition, offset };
  });
}

/** @param {Place} place */
export const placeText = ({ partition, offset }) => `${partition}:${offset}`;

/**
 * The repair of a URL's query, or the problem with it.
 * @param {Query} query
 * @returns {{repair: Repair, problem: string}}
 */
export function repairOf(query) {
  const { to = "", schema = "", part = "", keys = "", values = "", again = "" } = query;
  const isFormat = (/** @type {string} */ format) => FORMATS.some(([name]) => name === format) && format !== "auto";
  /** @type {Repair} */
  const repair = {
    ...(to ? { to_topic: to } : {}),
    ...(/^\d{1,10}$/.test(schema) ? { schema_id: Number(schema), part: part === "key" ? "key" : "value" } : {}),
    ...(isFormat(keys) ? { key_format: keys } : {}),
    ...(isFormat(values) ? { value_format: values } : {}),
    ...(again === "true" ? { again: true } : {}),
  };
  const problem = schema && !/^\d{1,10}$/.test(schema) || Number(schema) > 2 ** 31 - 1
    ? "A schema id is a whole number below 2147483648."
    : to && !/^[\w.-]{1,249}$/.test(to)
    ? "A topic's name has letters, digits, dots, - and _ only."
    : "";
  return { repair, problem };
}

/** The most letters that a replay sends. @param {Query} query */
export const mostOf = ({ max = "" }) =>
  /^\d{1,6}$/.test(max) ? Math.min(MOST_REPLAYED, Math.max(1, Number(max))) : REPLAYED;

/**
 * The command's condition for the same letters; empty for all letters.
 * @param {Query} query
 * @returns {string}
 */
export function conditionOf(query) {
  const picks = picksOf(query);
  if (picks.length) {
    const partitions = [...new Set(picks.map(({ partition }) => partition))];
    return partitions.map((partition) => {
      const offsets = picks.filter((place) => place.partition === partition).map(({ offset }) => offset);
      return `letter_partition = ${partition} AND letter_offset IN (${offsets.join(", ")})`;
    }).map((text) => partitions.length > 1 ? `(${text})` : text).join(" OR ");
  }
  const until = timeOf(query.until);
  const parts = [
    query.where?.trim() && (query.group || until !== undefined ? `(${query.where.trim()})` : query.where.trim()),
    query.group && groupCondition(groupingOf(query), query.group),
    until !== undefined && `letter_time < ${until}`,
  ];
  return parts.filter(Boolean).join(" AND ");
}

/** @param {string} by @param {string} name */
function groupCondition(by, name) {
  const column = COLUMNS[by];
  const text = "'" + name.replaceAll("'", "''") + "'";
  if (by === "schema-id") {
    if (GUID.test(name)) return `schema_guid = ${text}`;
    return name === "-" ? "schema_id IS NULL AND schema_guid IS NULL" : `schema_id = ${Number(name)}`;
  }
  return name === "-" && by !== "reason" ? `coalesce(${column}, '') = ''` : `${column} = ${text}`;
}

/**
 * The command that replays the same letters with the same repair.
 * @param {string} topic
 * @param {Query} query
 */
export function replayCommand(topic, query) {
  const { schema_id: id, part } = repairOf(query).repair;
  const repair = id === undefined ? [] : ["--schema-id", String(id), ...(part === "key" ? ["--part", "key"] : [])];
  return commandLine(topic, query, repair);
}

/** The command that repairs the same letters with a program. @param {string} topic @param {Query} query */
export const fixCommand = (topic, query) => commandLine(topic, query, ["--fix-with", "fix.py"]);

/** @param {string} topic @param {Query} query @param {string[]} more */
function commandLine(topic, query, more) {
  const { repair } = repairOf(query);
  const condition = conditionOf(query);
  const since = timeOf(query.since);
  const words = ["magicbyte", "dead-letter", "replay", topic];
  if (condition) words.push("--where", condition);
  if (since !== undefined && !picksOf(query).length) words.push("--from", String(since));
  if (repair.to_topic) words.push("--to-topic", repair.to_topic);
  if (repair.key_format) words.push("--key-format", repair.key_format);
  if (repair.value_format) words.push("--value-format", repair.value_format);
  if (repair.again) words.push("--again");
  return [...words, ...more, "--dry-run"].map(quote).join(" ");
}

/** The command that deletes replayed letters. @param {string} topic */
export const purgeCommand = (topic) =>
  ["magicbyte", "dead-letter", "purge", topic, "--replayed", "--dry-run"].map(quote).join(" ");
