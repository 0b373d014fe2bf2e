/**
 * Merges a draft with a newer version: the text, the references, the metadata and the rules.
 *
 * @import { Choice, Piece } from "../../../text/merge.js"
 * @import { Draft } from "../draft/drafts.js"
 * @typedef {"text" | "references" | "metadata" | "ruleSet"} PartName
 * @typedef {{name: PartName, title: string, json: boolean, pieces: Piece[]}} Part  `json`: as for `mergeTexts`
 */
import { printJson } from "../../../api/json.js";
import { mergedText, mergeTexts } from "../../../text/merge.js";
import { asStored, pretty } from "../../../text/pretty.js";

/** @type {[PartName, string][]} */
const PARTS = [["text", "Schema"], ["references", "References"], ["metadata", "Metadata"], ["ruleSet", "Rules"]];

/**
 * The parts of a merge: the text, and each other part that differs between the three. Null if the types differ, or if
 * the comparison of the texts takes too long.
 * @param {Draft} base  the version that was the latest when the draft began
 * @param {Draft} mine
 * @param {Draft} theirs
 * @returns {Part[] | null}
 */
export function mergeDrafts(base, mine, theirs) {
  if (base.type !== mine.type || theirs.type !== mine.type) return null;
  /** @type {Part[]} */
  const parts = [];
  for (const [name, title] of PARTS) {
    const [baseText, mineText, theirsText] = [base, mine, theirs].map((draft) => textOf(draft, name));
    if (name !== "text" && baseText === mineText && mineText === theirsText) continue;
    const json = name !== "references" && [baseText, mineText, theirsText].every(isJson);
    const pieces = mergeTexts(baseText, mineText, theirsText, { json });
    if (pieces === null) return null;
    parts.push({ name, title, json, pieces });
  }
  return parts;
}

/**
 * The merged draft; null while a conflict has no choice.
 * @param {Part[]} parts
 * @param {Partial<Record<PartName, (Choice | undefined)[]>>} choices
 * @returns {Partial<Draft> | null}
 */
export function mergedDraft(parts, choices) {
  /** @type {Partial<Draft>} */
  const draft = {};
  for (const { name, json, pieces } of parts) {
    const text = mergedText(pieces, choices[name] ?? [], { json });
    if (text === null) return null;
    if (name === "references") {
      draft.references = text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
    } else draft[name] = text;
  }
  return draft;
}

/**
 * A part of a draft as lines: a reference has one line.
 * @param {Draft} draft
 * @param {PartName} name
 */
function textOf(draft, name) {
  if (name === "text") return pretty(asStored(draft.text, draft.type)).text;
  if (name !== "references") return draft[name].trim() === "" ? "" : pretty(asStored(draft[name], "JSON")).text;
  return draft.references.map(({ name, subject, version }) => printJson({ name, subject, version })).join("\n");
}

/** @param {string} text */
function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
