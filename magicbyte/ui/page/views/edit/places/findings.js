/**
 * The places that break. Findings of one rule at one position of the new text form one place, which lists the versions
 * and the directions.
 *
 * @import { Direction } from "./levels.js"
 * @import { Edit, Position } from "./edits.js"
 * @typedef {{title: string, edits: Edit[]}} Fix
 * @typedef {{
 *   rule: string, severity: "error" | "warning", path: string, direction: Direction, version: number | null,
 *   change: string, new: Position | null, old: Position | null, breaks: string, harm: string, remedy: string,
 *   fixes: Fix[], example: string | null, effect: string | null, message: string
 * }} Explanation
 * @typedef {{
 *   key: string, rule: string, warning: boolean, asked: boolean, at: Position | null,
 *   findings: Explanation[], backward: number[], forward: number[], missed: string | null
 * }} Place  `missed`: the old field that old readers miss because the place's field replaced it
 */
import { asksFor } from "./levels.js";

const MISSING_FIELD = "READER_FIELD_MISSING_DEFAULT_VALUE";
const ALIAS = /alias "([^"]+)"/;

/**
 * Returns the places: places that the level checks first, then places of new readers, then by position.
 * @param {Explanation[]} explanations
 * @param {number} latest
 * @param {string} level
 * @returns {Place[]}
 */
export function placesOf(explanations, latest, level) {
  /** @type {Map<string, Place>} */
  const places = new Map();
  for (const finding of explanations) {
    const key = keyOf(finding);
    const place = places.get(key) ?? newPlace(key, finding);
    places.set(key, place);
    place.findings.push(finding);
    addVersion(finding.direction === "BACKWARD" ? place.backward : place.forward, finding.version);
    place.asked ||= finding.severity === "error" &&
      asksFor(level, finding.version ?? latest, latest, finding.direction);
  }
  return joinRenamed([...places.values()]).sort(inOrder);
}

/** @param {Explanation} finding */
function keyOf(finding) {
  const at = finding.new ? `${finding.new.line}:${finding.new.column}` : finding.path;
  return [finding.rule, finding.severity, at, removedField(finding) ?? ""].join(" ");
}

/**
 * Returns the name of a field that only the old version has. Its position in the new text is the record's, which may
 * lack several fields.
 * @param {Explanation} finding
 */
export function removedField(finding) {
  return finding.rule === MISSING_FIELD && finding.direction === "FORWARD" ? detail(finding) : null;
}

/**
 * Returns `additionalInfo` of the reference's message: the name of a missing field.
 * @param {Explanation} finding
 */
export function detail(finding) {
  return /additionalInfo:'([^]*)'\}$/.exec(finding.message)?.[1] ?? null;
}

/**
 * @param {string} key
 * @param {Explanation} finding
 * @returns {Place}
 */
function newPlace(key, finding) {
  const warning = finding.severity === "warning";
  const { rule } = finding;
  return { key, rule, warning, asked: false, at: finding.new, findings: [], backward: [], forward: [], missed: null };
}

/**
 * @param {number[]} versions
 * @param {number | null} version
 */
function addVersion(versions, version) {
  if (version === null || versions.includes(version)) return;
  versions.push(version);
  versions.sort((one, other) => one - other);
}

/**
 * Joins the place of a removed field to the place of the field that replaced it: the registry offers the old name as
 * alias. If it offers the alias for several new fields, takes the first of them in the text.
 * @param {Place[]} places
 */
function joinRenamed(places) {
  const joined = new Set();
  for (const gone of places) {
    const name = removedField(gone.findings[0]);
    if (name === null) continue;
    const heir = places
      .filter((place) => place.missed === null && place.rule === MISSING_FIELD && renamedFrom(place) === name)
      .sort((one, other) => position(one) - position(other))[0];
    if (heir === undefined) continue;
    heir.missed = name;
    heir.findings.push(...gone.findings);
    for (const version of gone.forward) addVersion(heir.forward, version);
    heir.asked ||= gone.asked;
    joined.add(gone);
  }
  return places.filter((place) => !joined.has(place));
}

/**
 * Returns the name that the registry offers as the alias of the place's field.
 * @param {Place} place
 */
export function renamedFrom(place) {
  for (const { fixes } of place.findings) {
    for (const { title } of fixes) {
      const alias = ALIAS.exec(title);
      if (alias) return alias[1];
    }
  }
  return null;
}

/** @param {Place} place */
function position({ at }) {
  return at ? at.line * 1e6 + at.column : 0;
}

/**
 * @param {Place} one
 * @param {Place} other
 */
function inOrder(one, other) {
  /** @type {(place: Place) => number} */
  const rank = (place) => (place.warning ? 4 : 0) + (place.asked ? 0 : 2) + (place.backward.length ? 0 : 1);
  return rank(one) - rank(other) || position(one) - position(other);
}
