/** The origins of settings other than the level and the mode. The API only returns the origins of these two. */
import { NOT_SET, originWords } from "../../text/phrases.js";

/**
 * The origin of a field. A value that equals the registry's counts as the registry's.
 * @param {unknown} value
 * @param {import("../../api/fact.js").Fact<unknown>} general  the registry's value
 * @param {string} subject
 */
export function fieldOrigin(value, general, subject) {
  if (value === undefined || value === null) return NOT_SET;
  if (subject === "") return originWords("subject");
  if (general.gap !== null) return "origin unknown";
  return originWords(JSON.stringify(value) === JSON.stringify(general.value ?? null) ? "global" : "subject");
}
