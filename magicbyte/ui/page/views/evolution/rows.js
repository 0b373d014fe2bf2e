/** Joins the versions of a subject with their comparisons; each compares a version with the version before it. Pure. */

import { joined, shortChange } from "../compare/words.js";

/** @import { Entry } from "../../api/subject_versions.js" */
/** @import { Comparison } from "../../text/answers.d.ts" */
/**
 * @typedef {"both" | "half" | "none" | "unknown"} Compatibility The compatibility of a version with the version before
 *   it.
 */
/**
 * @typedef {Entry & {
 *   step: Comparison | null, before: number | null, isOldest: boolean, compatibility: Compatibility, changes: string[], more: number,
 * }} Row
 */

/** The most changes that a row names. */
const NAMED = 4;

/**
 * @param {Entry[]} entries newest first
 * @param {Comparison[] | null} steps newest first; null if the registry has no comparisons
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

/** The previous live version of a live version. @param {Entry[]} entries @param {number} at */
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
 * The version from which to read further comparisons; null if the list reaches the oldest live version.
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
