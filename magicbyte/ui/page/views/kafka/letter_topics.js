/** Which topics have dead letters, by their names. Pure. */

/** Words of names that programs give to such topics, such as `orders-dead`, `orders.DLT` and `dead-letters`. */
const WORDS = /(^|[-._])(dead|dead[-._]?letters?|dlq|dlt|errors)([-._]|$)/i;
const STATE = ".state";

/**
 * The topics that look like topics of dead letters: their names say so, or the topic of their notes is beside them.
 * @param {string[]} names
 * @returns {string[]}
 */
export function letterTopics(names) {
  const all = new Set(names);
  return names.filter((name) => isLetterTopic(name, all)).sort();
}

/** Whether a topic looks like one of dead letters. @param {string} name @param {Set<string>} [names] all topics */
export const isLetterTopic = (name, names = new Set()) =>
  !name.endsWith(STATE) && (WORDS.test(name) || names.has(name + STATE));
