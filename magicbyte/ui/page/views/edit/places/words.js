/**
 * The titles of places: short titles for known rules, otherwise the registry's sentence.
 *
 * @import { Place } from "./findings.js"
 */
import { numbered } from "../../../text/counted.js";
import { detail, removedField } from "./findings.js";

/**
 * Returns a place's title: a name in bold and the rest of the sentence.
 * @param {Place} place
 * @param {{latest: number, nameOf: (pointer: string) => string | null, hadDefault: (field: string) => boolean}} about
 *   `nameOf` finds the name of the field at a path of the new text, `hadDefault`: whether the field had a default in
 *   the latest version
 * @returns {{name: string | null, text: string}}
 */
export function titleOf(place, { latest, nameOf, hadDefault }) {
  const [finding] = place.findings;
  const info = detail(finding);
  if (place.rule === "READER_FIELD_MISSING_DEFAULT_VALUE" && info !== null) {
    if (removedField(finding) !== null) return { name: info, text: "went, and old readers have no default for it" };
    const stays = place.backward.includes(latest);
    if (!stays && hadDefault(info)) return { name: info, text: "lost its default" };
    return { name: info, text: stays ? "is new and has no default" : "has no default" };
  }
  const types = /^reader type: (\w+) not compatible with writer type: (\w+)$/.exec(info ?? "");
  const name = nameOf(finding.path);
  if (place.rule === "TYPE_MISMATCH" && types && name !== null) {
    const [is, was] = (finding.direction === "BACKWARD" ? types.slice(1) : types.slice(1).reverse())
      .map((type) => type.toLowerCase());
    const newest = Math.max(...place.backward, ...place.forward);
    const text = newest < latest ? `is ${is} since version ${newest + 1}` : `was ${was}, is ${is}`;
    return { name, text };
  }
  return { name: null, text: finding.change };
}

/**
 * Returns which readers break, as the line below the title.
 * @param {Place} place
 * @param {number[]} versions
 */
export function sidesOf(place, versions) {
  const { backward, forward, missed } = place;
  const all = backward.length === versions.length && forward.length === versions.length;
  if (all && versions.length > 0 && missed === null) {
    return versions.length > 1 ? "both sides, all versions" : "both sides";
  }
  const readers = backward.length ? [`new readers of ${listed(backward)}`] : [];
  const old = missed !== null
    ? [`old readers miss ${missed}`]
    : forward.length
    ? [`old readers of ${listed(forward)}`]
    : [];
  return [...readers, ...old].join("; ");
}

/**
 * Returns the badge of a note: which readers break, on which data.
 * @param {Place} place
 */
export function whoOf(place) {
  const { backward, forward } = place;
  if (backward.length && forward.length && place.missed === null) {
    return `Readers on both sides, ${span(merge(backward, forward))}`;
  }
  return backward.length ? `New readers, on data of ${span(backward)}` : `Readers with ${span(forward)}, on new data`;
}

/** @param {number[]} versions */
function listed(versions) {
  const shown = versions.length > 6 ? [`${versions[0]} to ${versions.at(-1)}`] : versions;
  return `${numbered(versions.length, "version")} ${shown.join(", ")}`;
}

/** @param {number[]} versions */
function span(versions) {
  const first = versions[0];
  const last = versions[versions.length - 1];
  if (first === last) return `version ${first}`;
  if (versions.length === 2) return `versions ${first} and ${last}`;
  return last - first === versions.length - 1 ? `versions ${first} to ${last}` : listed(versions);
}

/**
 * @param {number[]} one
 * @param {number[]} other
 */
function merge(one, other) {
  return [...new Set([...one, ...other])].sort((first, second) => first - second);
}
