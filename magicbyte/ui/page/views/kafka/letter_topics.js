/** Finds topics of dead letters by their names. Pure. */

/**
 * Words in the names that programs give to topics of dead letters, such as `orders-dead`, `orders.DLT` and
 * `dead-letters`.
 */
const WORDS = /(^|[-._])(dead|dead[-._]?letters?|dlq|dlt|errors)([-._]|$)/i;
const STATE = ".state";

/**
 * The topics that look like topics of dead letters, by their own name or because their notes topic exists.
 * @param {string[]} names
 * @returns {string[]}
 */
export function letterTopics(names) {
  const all = new Set(names);
  return names.filter((name) => isLetterTopic(name, all)).sort();
}

/** Whether a topic looks like a topic of dead letters. @param {string} name @param {Set<string>} [names] all topics */
export const isLetterTopic = (name, names = new Set()) =>
  !name.endsWith(STATE) && (WORDS.test(name) || names.has(name + STATE));
