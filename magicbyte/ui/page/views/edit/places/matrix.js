/**
 * The matrix 'Who breaks': one row for each version, one cell for each direction, with the count of places that break.
 *
 * @import { Direction } from "./levels.js"
 * @import { Explanation } from "./findings.js"
 * @typedef {{version: number, latest: boolean, backward: Cell, forward: Cell}} Row
 * @typedef {{places: number, asked: boolean}} Cell
 */
import { asksFor } from "./levels.js";

/** The number of rows that the matrix shows at first; the user can load the others. */
export const ROWS = 50;

/**
 * Returns the rows, newest version first. Does not count warnings: they break no rule.
 * @param {Explanation[]} explanations
 * @param {number[]} versions
 * @param {string} level
 * @returns {Row[]}
 */
export function rowsOf(explanations, versions, level) {
  const latest = Math.max(0, ...versions);
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { version, direction, severity } of explanations) {
    if (severity !== "error") continue;
    const key = `${version} ${direction}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  /** @type {(version: number, direction: Direction) => Cell} */
  const cell = (version, direction) => ({
    places: counts.get(`${version} ${direction}`) ?? 0,
    asked: asksFor(level, version, latest, direction),
  });
  return [...versions].sort((one, other) => other - one).map((version) => ({
    version,
    latest: version === latest,
    backward: cell(version, "BACKWARD"),
    forward: cell(version, "FORWARD"),
  }));
}

/**
 * Returns true if no cell that the level checks breaks.
 * @param {Row[]} rows
 */
export function allowed(rows) {
  return rows.every(({ backward, forward }) => [backward, forward].every((cell) => !cell.asked || cell.places === 0));
}
