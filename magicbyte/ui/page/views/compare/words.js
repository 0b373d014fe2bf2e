/** The sentences of Compare and Evolution: verdicts, changes and levels in words. */
import { counted, numbered } from "../../text/counted.js";
import { grouped } from "../../text/grouped.js";

/** @import { Change, Comparison, Direction, Finding, OutlineNode, Side } from "../../text/answers.d.ts" */

const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/** @param {number} count */
function numberWord(count) {
  return NUMBERS[count] ?? grouped(count);
}

/** The name of a side: `version 3`, `version 3 of orders-value`, `the proposed text`. */
/** @param {Side} side @param {string} subject the subject of the page */
function sideName(side, subject) {
  if (side.version === null) return "the proposed text";
  return side.subject === subject ? `version ${side.version}` : `version ${side.version} of ${side.subject}`;
}

/** @param {string} text */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * Whether a level checks a direction between a version and the next version.
 * @param {string} level
 * @param {Direction} direction
 */
export function asksFor(level, direction) {
  return level.startsWith(direction) || level.startsWith("FULL");
}

/**
 * The two verdict cards: title and reason.
 * @param {Comparison} comparison
 * @param {Direction} direction
 * @param {string | null} level the subject's level, null if unknown
 * @param {string} subject
 */
export function verdict(comparison, direction, level, subject) {
  const [older, newer] = [sideName(comparison.from, subject), sideName(comparison.to, subject)];
  const backward = direction === "BACKWARD";
  const { compatible, errors, warnings } = backward ? comparison.backward : comparison.forward;
  const [reader, writer] = backward ? [newer, older] : [older, newer];
  const wrote = backward ? "wrote" : "writes";
  const name = backward ? "Backward" : "Forward";
  if (compatible) {
    return {
      ok: true,
      title: `${capital(reader)} reads what ${writer} ${wrote}`,
      reason: `${name} holds. ${holdsBecause(comparison, direction)}` +
        (warnings > 0 ? ` ${capital(counted(warnings, "caution"))}: the rules allow it, some data may not.` : ""),
    };
  }
  return {
    ok: false,
    title: `${capital(reader)} cannot read what ${writer} ${wrote}`,
    reason: `${name} breaks at ${numberWord(errors)} ${numbered(errors, "place")}. ` +
      capital(
        levelSentence(level, direction) +
          (backward ? `readers on ${reader} stop at older data.` : `readers still on ${reader} stop.`),
      ),
  };
}

/** @param {string | null} level @param {Direction} direction */
function levelSentence(level, direction) {
  if (level === null) return "";
  return asksFor(level, direction) ? `${level} refuses it; ` : `${level} allows it; `;
}

/** Why a direction is compatible. @param {Comparison} comparison @param {Direction} direction */
function holdsBecause(comparison, direction) {
  const backward = direction === "BACKWARD";
  const { changes } = comparison;
  if (changes.length === 0) return "Nothing changed.";
  const added = changes.filter((change) => change.kind === "added" && isField(change.new));
  const removed = changes.filter((change) => change.kind === "removed" && isField(change.old));
  const reasons = backward
    ? [fieldsSentence(added, "new", "new"), removed.length > 0 ? skipped(removed.length, "removed") : ""]
    : [fieldsSentence(removed, "removed", "old"), added.length > 0 ? skipped(added.length, "new") : ""];
  if (backward === comparison.backward.compatible) reasons.push(...readAs(changes, backward));
  const told = reasons.filter((reason) => reason !== "");
  const order = backward ? "Upgrade readers first" : "Upgrade writers first";
  if (told.length === 0) return `${order}.`;
  return `${order}: ${joined(told)}.`;
}

/** @param {OutlineNode | null} node */
function isField(node) {
  return node?.kind === "field" || node?.kind === "property";
}

/**
 * Which values fill the fields that the writer did not write.
 * @param {Change[]} changes
 * @param {string} word
 * @param {"old" | "new"} side
 */
function fieldsSentence(changes, word, side) {
  const withDefault = changes.filter((change) => change[side]?.default !== null);
  const optional = changes.filter((change) => change[side]?.default === null && change[side]?.optional === true);
  const parts = [];
  if (withDefault.length > 0) {
    parts.push(
      `${numberWord(withDefault.length)} ${word} ` +
        numbered(withDefault.length, "field has a default", "fields have defaults"),
    );
  }
  if (optional.length > 0) {
    parts.push(
      `${numberWord(optional.length)} ${word} ` + numbered(optional.length, "field is optional", "fields are optional"),
    );
  }
  return joined(parts);
}

/** @param {number} count @param {string} word */
function skipped(count, word) {
  return `${numberWord(count)} ${word} ${numbered(count, "field is", "fields are")} skipped`;
}

/** The types that the reader reads as other types. @param {Change[]} changes @param {boolean} backward */
function readAs(changes, backward) {
  const pairs = changes.filter((change) => change.what.includes("type") && change.old && change.new).map((change) => {
    const [old, fresh] = [/** @type {OutlineNode} */ (change.old).type, /** @type {OutlineNode} */ (change.new).type];
    return backward ? `${old} is read as ${fresh}` : `${fresh} is read as ${old}`;
  });
  const different = [...new Set(pairs)];
  return different.length > 2 ? [`${numberWord(different.length)} types are read as others`] : different;
}

/** @param {string[]} parts */
export function joined(parts) {
  if (parts.length < 2) return parts.join("");
  return `${parts.slice(0, -1).join(", ")}, and ${parts.at(-1)}`;
}

/**
 * @typedef {{ok: boolean | null, text: string}} Effect `ok` is null if the rules allow the change but data may break.
 */

/** Which readers a change breaks. @param {Finding[]} findings @returns {Effect} */
export function effectOf(findings) {
  const errors = findings.filter((finding) => finding.severity === "error");
  const backward = errors.some((finding) => finding.direction === "BACKWARD");
  const forward = errors.some((finding) => finding.direction === "FORWARD");
  if (backward && forward) return { ok: false, text: "both ways" };
  if (backward) return { ok: false, text: "new readers" };
  if (forward) return { ok: false, text: "old readers" };
  return findings.length > 0 ? { ok: null, text: "caution" } : { ok: true, text: "both ways" };
}

/** @typedef {"+" | "−" | "~"} Sign */
/** @param {Change} change @returns {Sign} */
export function signOf(change) {
  return change.kind === "added" ? "+" : change.kind === "removed" ? "−" : "~";
}

/** The meaning of a change's sign, as a word for screen readers. @param {Change} change */
export function signWord(change) {
  return { "+": "added", "−": "removed", "~": change.kind === "changed" ? "changed" : change.kind }[signOf(change)];
}

/** A node as one line: `string = "first"`. @param {OutlineNode} node */
function nodeLine(node) {
  const number = node.number === null ? "" : ` #${node.number}`;
  return `${node.type || node.kind}${node.default === null ? "" : ` = ${node.default}`}${number}`;
}

/**
 * Describes a change in lines; the first line is the most important.
 * @param {Change} change
 * @returns {string[]}
 */
export function changeLines(change) {
  const { old, new: fresh } = change;
  if (!old && !fresh) return [change.findings[0]?.change ?? change.path];
  if (!old || !fresh) return [nodeLine(/** @type {OutlineNode} */ (fresh ?? old))];
  const lines = [];
  if (change.what.includes("type")) lines.push(`${old.type} → ${fresh.type}`);
  if (change.what.includes("name")) lines.push(`${old.name} → ${fresh.name}`);
  if (change.what.includes("number")) lines.push(`#${old.number} → #${fresh.number}`);
  if (change.what.includes("default")) lines.push(defaultLine(old.default, fresh.default));
  if (change.what.includes("optional")) lines.push(fresh.optional ? "required → optional" : "optional → required");
  if (change.what.includes("kind")) lines.push(`${old.kind} → ${fresh.kind}`);
  if (change.what.includes("aliases")) lines.push(listLine("alias", old.aliases, fresh.aliases));
  if (change.what.includes("tags")) lines.push(listLine("tag", old.tags, fresh.tags));
  if (change.what.includes("doc")) {
    lines.push(old.doc === null ? "doc added" : fresh.doc === null ? "doc removed" : "doc changed");
  }
  if (change.what.includes("reference")) lines.push("refers to another version");
  if (change.what.includes("place") || change.kind === "moved") lines.push("moved to another place");
  for (const name of change.what.filter((member) => member.startsWith("attributes."))) {
    const attribute = name.slice("attributes.".length);
    lines.push(`${attribute}: ${old.attributes[attribute] ?? "none"} → ${fresh.attributes[attribute] ?? "none"}`);
  }
  if (lines.length === 0) lines.push(nodeLine(fresh));
  return lines;
}

/** @param {string | null} old @param {string | null} fresh */
function defaultLine(old, fresh) {
  if (old === null) return `default ${fresh} added`;
  return fresh === null ? `default ${old} removed` : `default ${old} → ${fresh}`;
}

/** @param {string} word @param {string[]} old @param {string[]} fresh */
function listLine(word, old, fresh) {
  const added = fresh.filter((name) => !old.includes(name)).map((name) => `+ ${word} ${name}`);
  const removed = old.filter((name) => !fresh.includes(name)).map((name) => `− ${word} ${name}`);
  return [...added, ...removed].join(", ") || `${word} order changed`;
}

/** A change in a few words, for a row of Evolution: `distance int → long`, `+ address.min = 0`. @param {Change} change */
export function shortChange(change) {
  const sign = signOf(change);
  // Another version of the registry may lack `fieldPath`.
  const name = change.fieldPath || (change.name ?? change.path);
  if (sign === "+") return `+ ${name}${change.new?.default == null ? "" : ` = ${change.new.default}`}`;
  if (sign === "−") return `− ${name}`;
  const line = changeLines(change)[0];
  if (change.kind !== "renamed" || !change.old) return `${name} ${line}`;
  const own = change.name ?? "";
  const around = name.endsWith(own) ? name.slice(0, name.length - own.length) : "";
  return `${around}${change.old.name} → ${own}`;
}

/**
 * A finding's rule. Rules describe the step from the writer to the reader. For old readers, this is the step from the
 * new version to the old version, so an added message is `MESSAGE_REMOVED`.
 * @param {string} rule
 * @param {boolean} backwards whether the step is from the new version to an old version
 */
export const ruleWords = (rule, backwards) => backwards ? `${rule}, from new to old` : rule;

/**
 * The headline of a note: which readers break, on which data.
 * @param {Finding} finding
 * @param {Comparison} comparison
 * @param {string} subject
 */
export function headlineOf(finding, comparison, subject) {
  const [older, newer] = [sideName(comparison.from, subject), sideName(comparison.to, subject)];
  const [reader, writer] = finding.direction === "BACKWARD" ? [newer, older] : [older, newer];
  const verb = finding.severity === "error" ? "Breaks" : "May break";
  return `${verb} readers with ${reader}, on data written with ${writer}`;
}

/**
 * The number of fields of the new side, counted from its leaves; undefined for types without fields and for Protobuf.
 */
/** @param {Comparison} comparison */
export function fieldsAfter({ changes, unchanged, to }) {
  if (to.schemaType === "PROTOBUF") return undefined;
  return unchanged + changes.reduce((sum, change) => sum + (isField(change.new) ? Math.max(1, change.leaves) : 0), 0);
}
