/** Where settings come from, in words. */

/** @type {Record<string, string>} */
const WORDS = {
  subject: "set on this subject",
  context: "from the context",
  global: "from the registry",
  server: "the server's default",
};

/**
 * @param {string | undefined} origin  as the API has it
 * @param {string} subject  empty for the registry's own settings
 */
export function originWords(origin, subject) {
  if (subject === "" && origin === "global") return "set on the registry";
  return WORDS[origin ?? ""] ?? "";
}

/**
 * The origin of a field other than the level: the API tells it for the level alone. A value that the registry has, too,
 * counts as the registry's.
 * @param {unknown} value
 * @param {import("../../api/fact.js").Fact<unknown>} general  the registry's value
 * @param {string} subject
 */
export function fieldOrigin(value, general, subject) {
  if (value === undefined || value === null) return "not set";
  if (subject === "") return "set on the registry";
  if (general.gap !== null) return "set, where is unknown";
  return JSON.stringify(value) === JSON.stringify(general.value ?? null) ? "from the registry" : "set on this subject";
}
