/** The names nearest to a name that does not exist. Pure. */

/** The most names to offer. */
const MOST = 5;
/** The share of letter pairs that two names must have in common. */
const LEAST_SIMILARITY = 0.5;

/**
 * The names most similar to a name, nearest first.
 * @param {string[]} names
 * @param {string} name
 * @returns {string[]}
 */
export function nearestNames(names, name) {
  const pairs = pairsOf(name);
  return names
    .map((candidate) => ({ candidate, likeness: likeness(pairs, pairsOf(candidate)) }))
    .filter((entry) => entry.likeness >= LEAST_SIMILARITY && entry.candidate !== name)
    .sort((left, right) => right.likeness - left.likeness)
    .slice(0, MOST)
    .map((entry) => entry.candidate);
}

/**
 * Dice's coefficient of two sets of letter pairs: 1 for the same pairs, 0 for none in common.
 * @param {Set<string>} left
 * @param {Set<string>} right
 */
function likeness(left, right) {
  let shared = 0;
  for (const pair of left) if (right.has(pair)) shared++;
  return (2 * shared) / (left.size + right.size);
}

/** @param {string} name */
function pairsOf(name) {
  const text = ` ${name.toLowerCase()} `;
  return new Set(Array.from({ length: text.length - 1 }, (_, at) => text.slice(at, at + 2)));
}
