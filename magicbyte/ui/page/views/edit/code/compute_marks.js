/**
 * Computes the editor's marks for places of the checked text.
 *
 * @import { Mark } from "./mark_extension.js"
 * @import { Place } from "../places/findings.js"
 * @typedef {Parameters<typeof titleOf>[1]} About
 */
import { fieldNames, fieldsWithDefault } from "../places/avro_names.js";
import { offsetAt } from "../places/edits.js";
import { extentOf } from "./extents.js";
import { titleOf } from "../places/words.js";

/** The key of the mark for a text that is not a schema. */
export const INVALID = "invalid";

/**
 * The facts about the text and the latest version that the titles of places need.
 * @param {import("./open_editor.js").SchemaType} type
 * @param {string} sent
 * @param {string} start
 * @param {number} latest
 * @returns {About}
 */
export function aboutText(type, sent, start, latest) {
  if (type !== "AVRO") return { latest, nameOf: () => null, hadDefault: () => false };
  const defaults = fieldsWithDefault(start);
  return { latest, nameOf: fieldNames(sent), hadDefault: (field) => defaults.has(field) };
}

/**
 * @param {Place[]} places
 * @param {string} sent
 * @param {About} about
 * @returns {Mark[]}
 */
export function marksOf(places, sent, about) {
  return places.filter(({ at }) => at !== null).map((place) => {
    const from = offsetAt(sent, /** @type {import("../places/edits.js").Position} */ (place.at));
    const { name, text } = titleOf(place, about);
    return {
      key: place.key,
      from,
      ...extentOf(sent, from),
      warning: place.warning,
      message: `${name ?? ""} ${text}`.trim(),
    };
  });
}

/**
 * @param {import("../places/check.d.ts").Invalid} invalid
 * @returns {Mark}
 */
export function invalidMark({ sent, message, position }) {
  if (position === null) return { key: INVALID, from: 0, to: 0, end: 0, warning: false, message };
  const at = Math.min(offsetAt(sent, position), Math.max(0, sent.length - 1));
  // At the end of a line or of the text, underline the character before the position.
  const from = at > 0 && (sent[at] === "\n" || position.column > 1 && offsetAt(sent, position) >= sent.length)
    ? at - 1
    : at;
  const to = Math.max(from + 1, extentOf(sent, from).to);
  return { key: INVALID, from, to: Math.min(to, sent.length), end: from, warning: false, message };
}
