/**
 * The compatibility levels: the comparisons of a new version that each level requires.
 *
 * @typedef {"BACKWARD" | "FORWARD"} Direction  BACKWARD: the new version reads data written with the old version
 */

export const LEVELS = [
  "NONE",
  "BACKWARD",
  "BACKWARD_TRANSITIVE",
  "FORWARD",
  "FORWARD_TRANSITIVE",
  "FULL",
  "FULL_TRANSITIVE",
];

/** @type {readonly Direction[]} */
export const DIRECTIONS = ["BACKWARD", "FORWARD"];

/**
 * Returns true when a level compares the new version with an old one in a direction.
 * @param {string} level  empty if it is unknown
 * @param {number} version
 * @param {number} latest
 * @param {Direction} direction
 */
export function asksFor(level, version, latest, direction) {
  if (level === "NONE") return false;
  const [side, reach] = level.split("_");
  return (side === "FULL" || side === direction) && (reach === "TRANSITIVE" || version === latest);
}

/**
 * Returns the meaning of a level, as a sentence under the matrix.
 * @param {string} level
 * @param {number} versions  how many versions the subject has
 */
export function meaning(level, versions) {
  if (level === "") return "You may not read the level: no cell is outlined. Choose one to see what it would ask for.";
  if (level === "NONE") return "NONE asks for nothing. The cells are what your applications live through.";
  const cells = (level.startsWith("FULL") ? 2 : 1) * (level.endsWith("TRANSITIVE") ? versions : 1);
  return cells === 1
    ? `The outlined cell is what ${level} asks for. The others are what your applications live through.`
    : `The outlined cells are what ${level} asks for. The others are what your applications live through.`;
}
