/** Counts with their nouns. */
import { grouped } from "./grouped.js";

/**
 * A count with its noun: `1 partition`, `1,200 partitions`, `2 entries`.
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export const counted = (count, one, many = one + "s") => `${grouped(count)} ${numbered(count, one, many)}`;

/**
 * Singular or plural form of a word for a count: `is` for 1, `are` for 2.
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export const numbered = (count, one, many = one + "s") => count === 1 ? one : many;
