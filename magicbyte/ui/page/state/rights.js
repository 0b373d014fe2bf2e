/** The user's rights by the registry's access rules. The views request them, and `may` looks them up. */
import { lackWords } from "../text/phrases.js";
import { signal } from "../vendor/ui.js";

/**
 * @typedef {import("../api/rights.js").ContextRights} ContextRights
 * @typedef {{subjects: Record<string, string[]>, contexts: Record<string, ContextRights>}} KnownRights by names with
 *   contexts, and by contexts
 */

/** @type {KnownRights} */
const NONE = { subjects: {}, contexts: {} };

/** The user's rights, as far as they are known. @type {import("../vendor/ui.js").Signal<KnownRights>} */
export const rights = signal(NONE);

/** Incremented when the views must request the rights again. */
export const rightsRound = signal(0);

/** When the rights on each key were requested, in ms. @type {Map<string, number>} */
const asked = new Map();
/** Rules may change while the page is open, so a view requests rights that are older than this again. */
const FRESH_MS = 30_000;

/**
 * Returns the names whose rights must be requested now, and marks them as requested.
 * @param {string[]} keys
 */
export function stale(keys) {
  const now = Date.now();
  const old = keys.filter((key) => now - (asked.get(key) ?? -FRESH_MS) >= FRESH_MS);
  for (const key of old) asked.set(key, now);
  return old;
}

/**
 * Stores the rights of a registry's answer.
 * @param {string} context
 * @param {Record<string, string[]>} subjects by names with contexts
 * @param {ContextRights} ofContext
 */
export function learn(context, subjects, ofContext) {
  const known = rights.peek();
  rights.value = {
    subjects: { ...known.subjects, ...subjects },
    contexts: { ...known.contexts, [context]: ofContext },
  };
}

/** Forgets the previous user's rights, and requests the current user's. */
export function forgetRights() {
  rights.value = NONE;
  askRightsAgain();
}

/** Requests the rights again after a refusal, which shows that they have changed. */
export function askRightsAgain() {
  asked.clear();
  rightsRound.value++;
}

/** The operations that each action needs on its subject. @type {Record<string, string[]>} */
const NEEDS = {
  register: ["WRITE"],
  force: ["WRITE", "ALTER_CONFIGS"],
  delete: ["DELETE"],
  purge: ["DELETE"],
  undelete: ["WRITE", "DELETE"],
  tags: ["READ", "WRITE"],
  config: ["ALTER_CONFIGS"],
  mode: ["ALTER_CONFIGS"],
};

/**
 * The rights that the user lacks for an action, as a sentence; empty if none or unknown.
 * @param {string} action as in `may`
 * @param {string} subject with its context; empty for none
 * @param {string} context
 */
export function lackOf(action, subject, context) {
  const known = rights.value.contexts[context];
  if (!known) return "";
  const place = context ? `the context ${context}` : "the registry";
  if (!subject && (action === "config" || action === "mode")) {
    return lacking(NEEDS[action], known.settings, place);
  }
  if (action === "import") {
    // An import that only has settings needs ALTER_CONFIGS alone.
    if (known.settings.includes("ALTER_CONFIGS")) return "";
    return lacking(["WRITE", "ALTER_CONFIGS"], known.someSubject, "any subject");
  }
  const needs = NEEDS[action];
  if (!needs) return "";
  const held = rights.value.subjects[subject];
  if (held) return lacking(needs, held, `the subject ${subject}`);
  return lacking(needs, known.someSubject, "any subject");
}

/** @param {string[]} needs @param {string[]} held @param {string} resource */
function lacking(needs, held, resource) {
  const missing = needs.filter((operation) => !held.includes(operation));
  return missing.length === 0 ? "" : lackWords(missing, resource);
}
