/** Joins the versions of a subject with the comparisons of each with the one before. Pure. */

import { joined, shortChange } from "../compare/words.js";

/** @import { Entry } from "../../api/subject_versions.js" */
/** @import { Comparison } from "../../text/answers.d.ts" */
/** @typedef {"both" | "half" | "none" | "unknown"} Compatibility How a version is joined to the one before. */
/**
 * @typedef {Entry & {
 *   step: Comparison | null, before: number | null, isOldest: boolean, compatibility: Compatibility, changes: string[], more: number,
 * }} Row
 */

/** This many changes are named in a row. */
const NAMED = 4;

/**
 * @param {Entry[]} entries newest first
 * @param {Comparison[] | null} steps newest first; null if the registry compares nothing
 * @returns {Row[]}
 */
export function rowsOf(entries, steps) {
  const byVersion = new Map((steps ?? []).map((step) => [step.to.version, step]));
  return entries.map((entry, at) => {
    const step = byVersion.get(entry.version) ?? null;
    const changes = step && !step.error ? step.changes.map(shortChange) : [];
    return {
      ...entry,
      step,
      before: step?.from.version ?? liveBefore(entries, at),
      isOldest: at === entries.length - 1,
      compatibility: compatibilityOf(step),
      changes: changes.slice(0, NAMED),
      more: Math.max(0, changes.length - NAMED),
    };
  });
}

/** The live version before a live one. @param {Entry[]} entries @param {number} at */
const liveBefore = (entries, at) =>
  entries[at].deleted ? null : entries.slice(at + 1).find((entry) => !entry.deleted)?.version ?? null;

/** @param {Comparison | null} step @returns {Compatibility} */
export function compatibilityOf(step) {
  if (!step || step.error) return "unknown";
  const { backward, forward } = step;
  if (backward.compatible && forward.compatible) return "both";
  return backward.compatible || forward.compatible ? "half" : "none";
}

/**
 * Where the list of comparisons has to go on; null if it reaches the oldest live version.
 * @param {Entry[]} entries newest first
 * @param {Comparison[]} steps newest first
 */
export function nextStep(entries, steps) {
  const oldest = entries.findLast((entry) => !entry.deleted)?.version ?? 0;
  const reached = steps.at(-1)?.from.version ?? 0;
  return reached > oldest ? reached : null;
}

/** The compatibility in words. @param {Row} row */
export function compatibilityWords({ step, before, version }) {
  if (!step || step.error || before === null) return "not compared";
  const { backward, forward } = step;
  const parts = [
    `version ${version} ${backward.compatible ? "reads" : "cannot read"} version ${before}`,
    `version ${before} ${forward.compatible ? "reads" : "cannot read"} version ${version}`,
  ];
  return joined(parts);
}
