/**
 * The phrases for facts that several views show: the origin of a setting, why a value is unknown, which right is
 * missing.
 */

import { numbered } from "./counted.js";

/** The origin of a setting. @type {Record<string, string>} */
const ORIGINS = {
  subject: "its own",
  context: "from the context",
  global: "from the registry",
  // A subject inherits the server's default in the same way as a setting of the registry.
  server: "from the registry",
  inherited: "inherited",
};

/**
 * The origin of a setting in words; empty if unknown.
 * @param {string | undefined} origin as the API has it: subject, context, global or server
 * @param {boolean} [ofRegistry] whether it is a setting of the registry itself
 */
export function originWords(origin, ofRegistry = false) {
  if (ofRegistry && origin === "global") return ORIGINS.subject;
  if (ofRegistry && origin === "server") return "by default";
  return ORIGINS[origin ?? ""] ?? "";
}

export const NOT_SET = "not set";

/** @typedef {"absent" | "forbidden" | "costly" | "unknown"} Gap Why there is no value. */

/** Why there is no value, within a line. @type {Record<Gap, string>} */
export const GAPS = {
  absent: "none",
  forbidden: "you may not read it",
  costly: "too costly to tell",
  unknown: "unknown",
};

/** Why there is no value, in one or two words, for a narrow column. @type {Record<Gap, string>} */
export const BRIEF_GAPS = { ...GAPS, forbidden: "forbidden", costly: "too costly" };

/** Why there is no value, as a heading. @type {Record<Gap, string>} */
export const GAP_HEADS = {
  absent: "Not there",
  forbidden: "You may not read it",
  costly: "Too costly to tell",
  unknown: "Unknown",
};

export const HIDDEN_BY_RULES = "The access rules do not let you read it.";

export const READ_ONLY_PAGE = "This page is read-only: magicbyte.ui.read.only is set.";

/**
 * The rights that the user lacks for an action, as a sentence.
 * @param {string[]} operations such as WRITE
 * @param {string} resource such as `the subject orders-value`
 */
export const lackWords = (operations, resource) =>
  `You lack the ${numbered(operations.length, "right")} ${operations.join(" and ")} on ${resource}.`;
