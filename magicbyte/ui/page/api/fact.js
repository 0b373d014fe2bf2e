/** A fact of the registry: known, absent, forbidden, too costly or unknown. All views use this type. */
import { ApiError } from "./client.js";
import { hasOverview } from "./features.js";
import { isMissingRoute } from "./transport.js";
import { HIDDEN_BY_RULES } from "../text/phrases.js";

/** @typedef {import("../text/phrases.js").Gap} Gap */
/**
 * @template T
 * @typedef {{gap: null, value: T} | {gap: Gap, reason: string}} Fact `reason` is the registry's sentence, or empty
 */

/** The code of schemas that take too much time or memory to read or to compare. */
const TOO_COSTLY = 42209;

/**
 * @template T
 * @param {T} value
 * @returns {Fact<T>}
 */
export const known = (value) => ({ gap: null, value });

/** @type {Fact<any>} */
export const UNKNOWN = { gap: "unknown", reason: "" };

/**
 * Which gap an error is; null if it is a failure that may pass, or a fault of the request.
 * @param {any} error
 * @returns {Gap | null}
 */
export function gapOf(error) {
  if (!(error instanceof ApiError)) return null;
  if (error.status === 403) return "forbidden";
  if (error.code === TOO_COSTLY) return "costly";
  if (isMissingRoute(error)) return "unknown";
  return error.status === 404 ? "absent" : null;
}

/**
 * The fact that a request brings.
 * @template T
 * @param {Promise<T>} request
 * @returns {Promise<Fact<T>>}
 * @throws what the request throws, if that is no gap
 */
export async function factOf(request) {
  try {
    return known(await request);
  } catch (error) {
    const gap = gapOf(error);
    if (gap === null) throw error;
    return { gap, reason: /** @type {Error} */ (error).message };
  }
}

/**
 * The fact that a request brings, or that it is unknown, whatever went wrong: for a line among others of a card.
 * @template T
 * @param {Promise<T>} request
 * @returns {Promise<Fact<T>>}
 */
export const factOrUnknown = (request) => request.then(known, gapFact);

/**
 * The gap that an error leaves in the place of a fact.
 * @param {any} error
 * @returns {Fact<any>}
 */
export const gapFact = (error) => ({ gap: gapOf(error) ?? "unknown", reason: String(error?.message ?? error) });

/**
 * The fact with its value changed.
 * @template T, U
 * @param {Fact<T>} fact
 * @param {(value: T) => U} change
 * @returns {Fact<U>}
 */
export const mapped = (fact, change) => fact.gap === null ? known(change(fact.value)) : fact;

/**
 * The value, or another one if there is a gap.
 * @template T, U
 * @param {Fact<T>} fact
 * @param {U} other
 * @returns {T | U}
 */
export const valueOr = (fact, other) => fact.gap === null ? fact.value : other;

/**
 * A cell of the listing. Our registry sends null for what the user may not read; another registry sends names alone.
 * @template T
 * @param {T | null} cell
 * @returns {Fact<T>}
 */
export function cellFact(cell) {
  if (cell !== null) return known(cell);
  return hasOverview() ? { gap: "forbidden", reason: HIDDEN_BY_RULES } : UNKNOWN;
}
