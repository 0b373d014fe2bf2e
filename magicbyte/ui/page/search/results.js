/** Results that need no request: pins, visits, ids, names and places. */
import { splitSubject } from "../text/split_subject.js";
import { listingRow } from "../state/listing_columns.js";
import { TypeBadge } from "../parts/badges.js";
import { path } from "../api/encode_url.js";
import { href } from "../state/routes.js";
import { context, overview } from "../state/signals.js";
import { html } from "../vendor/ui.js";
import { subjectHref } from "../state/subject_href.js";
import { matching, namesOf } from "./matching.js";
import { marked, readQuery } from "./query.js";
import { pinned, recent, shownName } from "./recent.js";
import { grouped } from "../text/grouped.js";

/**
 * @typedef {{key: string, address: string, parts: {text: string, hit: boolean}[], note?: string, badge?: any,
 *   subject?: string}} Item
 * @typedef {{title: string, count?: number, items: Item[]}} Group
 */

const MOST = 12;
const GUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** @type {[string, string][]} */
const PLACES = [
  ["/subjects", "Subjects"],
  ["/topics", "Topics"],
  ["/groups", "Groups"],
  ["/brokers", "Brokers"],
  [
    "/new-topic",
    "New topic",
  ],
  ["/pipelines", "Pipelines"],
  ["/decode", "Decode"],
  ["/registry", "Registry"],
  [
    "/new",
    "New schema",
  ],
  ["/config", "Settings of the registry"],
];

/** @param {string} typed @returns {Group[]} */
export function localResults(typed) {
  if (!typed.trim()) {
    const pins = pinned.value;
    return [
      { title: "Pinned", items: pins.map(subjectItem) },
      { title: "Visited", items: recent.value.filter((subject) => !pins.includes(subject)).map(subjectItem) },
    ];
  }
  return [idGroup(typed.trim()), nameGroup(typed), placeGroup(typed.trim().toLowerCase())];
}

/** @param {string} subject @returns {Item} */
function subjectItem(subject) {
  const { context: other, name } = splitSubject(subject);
  return {
    key: subject,
    subject,
    address: href(path`/subjects/${name}/versions/latest`, {}, { context: other }),
    parts: [{ text: shownName(subject), hit: false }],
  };
}

/** @param {string} typed @returns {Group} */
function idGroup(typed) {
  const id = typed.match(/^(?:id:)?(\d{1,10})$/)?.[1];
  const items = [];
  if (id) {
    items.push({
      key: "id",
      address: href(path`/schemas/ids/${id}`),
      parts: [{ text: `id ${id}`, hit: false }],
      note: "the schema, and who uses it",
    });
  }
  if (GUID.test(typed)) {
    items.push({
      key: "guid",
      address: href(path`/schemas/guids/${typed.toLowerCase()}`),
      parts: [{ text: typed, hit: false }],
      note: "guid",
    });
  }
  return { title: "Id", items };
}

/** @param {string} typed @returns {Group} */
function nameGroup(typed) {
  const listing = overview.value;
  if (!listing) return { title: "Subjects", items: [] };
  const query = readQuery(typed);
  const { rows } = matching(listing, query, context.value, {});
  const names = namesOf(listing);
  // Names that begin with the first word come first, then shorter names.
  const [first = ""] = query.words;
  const rank = (/** @type {number} */ row) =>
    (names.lower[row].startsWith(first) ? 0 : 1_000_000) + names.lower[row].length;
  const best = rows.length > MOST ? [...rows].sort((left, right) => rank(left) - rank(right)).slice(0, MOST) : rows;
  const items = best.flatMap((row) => {
    const facts = listingRow(listing, row);
    if (!facts) return [];
    return [{
      key: facts.subject,
      subject: facts.subject,
      address: subjectHref(facts),
      parts: marked(names.name[row], query.words),
      badge: facts.type && html`<${TypeBadge} type=${facts.type} />`,
    }];
  });
  if (rows.length > MOST) {
    items.push(
      /** @type {any} */ ({
        key: "all",
        address: href("/subjects", { q: typed }),
        parts: [{ text: `All ${grouped(rows.length)} in the list`, hit: false }],
      }),
    );
  }
  return { title: "Subjects", count: rows.length, items };
}

/** @param {string} typed @returns {Group} */
const placeGroup = (typed) => ({
  title: "Pages",
  items: typed.length < 2
    ? []
    : PLACES.filter(([, words]) => words.toLowerCase().startsWith(typed)).map(([to, words]) => ({
      key: to,
      address: href(to),
      parts: [{ text: words, hit: false }],
    })),
});
