/**
 * Drafts: unregistered texts. The tab's sessionStorage keeps them until the registration.
 *
 * @import { SchemaType } from "../code/open_editor.js"
 * @typedef {{name: string, subject: string, version: number}} Reference
 * @typedef {{
 *   text: string, type: SchemaType, from: number | null, base: number, references: Reference[],
 *   metadata: string, ruleSet: string, normalize: boolean,
 * }} Draft  `from`: the version that the draft began with; `base`: the latest version at that time, 0 for none;
 *   `metadata` and `ruleSet` are JSON texts, empty for none
 */
import { parseJson, printJson } from "../../../api/json.js";

const PREFIX = "magicbyte.draft:";

/**
 * @param {string} key
 * @returns {Draft | null}
 */
export function readDraft(key) {
  try {
    const draft = JSON.parse(sessionStorage.getItem(PREFIX + key) ?? "null");
    return draft !== null && typeof draft.text === "string" && Array.isArray(draft.references) ? draft : null;
  } catch {
    return null;
  }
}

/**
 * Stores a draft. Does nothing if the tab's storage is off or full.
 * @param {string} key
 * @param {Draft} draft
 */
export function keepDraft(key, draft) {
  try {
    sessionStorage.setItem(PREFIX + key, JSON.stringify(draft));
  } catch {
    // The draft only stays in the editor.
  }
}

/**
 * A new draft that starts with a version.
 * @param {any} stored  a version as the API returns it
 * @param {number} base
 * @param {string} text  the version's text as the page shows it
 * @returns {Draft}
 */
export function draftOf(stored, base, text) {
  const printed = (/** @type {unknown} */ value) => value === undefined || value === null ? "" : printJson(value, 2);
  return {
    text,
    type: stored.schemaType ?? "AVRO",
    from: stored.version,
    base,
    references: stored.references ?? [],
    metadata: printed(stored.metadata),
    ruleSet: printed(stored.ruleSet),
    normalize: false,
  };
}

/**
 * Returns the versions with which other drafts of a subject began, newest first.
 * @param {string} key  the prefix of the subject's drafts; a space and the version follow
 * @param {number | null} from  the version of the open draft
 * @returns {number[]}
 */
export function otherStarts(key, from) {
  const keys = globalThis.sessionStorage ? Object.keys(sessionStorage) : [];
  const prefix = `${PREFIX}${key} `;
  return keys
    .filter((name) => name.startsWith(prefix))
    .map((name) => Number(name.slice(prefix.length)))
    .filter((version) => Number.isInteger(version) && version !== from)
    .sort((one, other) => other - one);
}

/** @param {string} key */
export function dropDraft(key) {
  try {
    sessionStorage.removeItem(PREFIX + key);
  } catch {
    // The storage is off, so there are no drafts.
  }
}

/**
 * Parses a JSON object for a request's body; returns undefined for an empty text.
 * @param {string} text
 * @param {string} name  the name of the field in the error
 * @returns {object | undefined}
 */
export function objectOf(text, name) {
  if (text.trim() === "") return undefined;
  let value;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new SyntaxError(`${name} is not JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new SyntaxError(`${name} is not a JSON object`);
  }
  return value;
}

/**
 * The problem with a text that must be a JSON object; null if valid.
 * @param {string} text
 * @param {string} name
 */
export function problemOf(text, name) {
  try {
    objectOf(text, name);
    return null;
  } catch (error) {
    return /** @type {Error} */ (error).message;
  }
}

/**
 * Returns the body of a request about a draft.
 * @param {Draft} draft
 */
export function bodyOf(draft) {
  const metadata = objectOf(draft.metadata, "The metadata");
  const ruleSet = objectOf(draft.ruleSet, "The rule set");
  return {
    schema: draft.text,
    ...(draft.type === "AVRO" ? {} : { schemaType: draft.type }),
    ...(draft.references.length ? { references: draft.references } : {}),
    ...(metadata ? { metadata } : {}),
    ...(ruleSet ? { ruleSet } : {}),
  };
}
