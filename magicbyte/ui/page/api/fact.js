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

/** The code of an error about a schema whose parsing or comparison takes too much time or memory. */
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
 * The gap that an error stands for; null for a transient failure or a faulty request.
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
 * The fact that a request returns.
 * @template T
 * @param {Promise<T>} request
 * @returns {Promise<Fact<T>>}
 * @throws the request's error, if it is not a gap
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
 * The fact that a request returns, or `unknown` after any error; for single lines of a card.
 * @template T
 * @param {Promise<T>} request
 * @returns {Promise<Fact<T>>}
 */
export const factOrUnknown = (request) => request.then(known, gapFact);

/**
 * An error as a fact with a gap.
 * @param {any} error
 * @returns {Fact<any>}
 */
export const gapFact = (error) => ({ gap: gapOf(error) ?? "unknown", reason: String(error?.message ?? error) });

/**
 * Applies a function to the value of a fact.
 * @template T, U
 * @param {Fact<T>} fact
 * @param {(value: T) => U} change
 * @returns {Fact<U>}
 */
export const mapped = (fact, change) => fact.gap === null ? known(change(fact.value)) : fact;

/**
 * The value, or `other` if there is a gap.
 * @template T, U
 * @param {Fact<T>} fact
 * @param {U} other
 * @returns {T | U}
 */
export const valueOr = (fact, other) => fact.gap === null ? fact.value : other;

/**
 * A cell of the listing. Our registry sends null for a cell that the user may not read. Other registries send only
 * names.
 * @template T
 * @param {T | null} cell
 * @returns {Fact<T>}
 */
export function cellFact(cell) {
  if (cell !== null) return known(cell);
  return hasOverview() ? { gap: "forbidden", reason: HIDDEN_BY_RULES } : UNKNOWN;
}
