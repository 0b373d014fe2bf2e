/** Encodes values for the paths and queries of URLs. Pure. */

/** @typedef {import("./types.d.ts").Query} Query */

/**
 * A path with its values percent-encoded: path`/subjects/${subject}/edit`.
 * @param {TemplateStringsArray} strings
 * @param {...(string | number)} values
 */
export function path(strings, ...values) {
  return String.raw({ raw: strings }, ...values.map((value) => encodeURIComponent(value)));
}

/**
 * The query of an object. It omits values that are undefined, null, false or empty, writes true as `true`, and repeats
 * the parameter for a list.
 * @param {Query} [query]
 */
export function printQuery(query = {}) {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => /** @type {[string, any]} */ ([name, one]))
  );
  const given = pairs.filter(([, value]) => value !== undefined && value !== null && value !== false && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text ? "?" + text : "";
}
