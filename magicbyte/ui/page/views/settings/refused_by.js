/** The versions that a level would have refused if it had been in effect from the first version on. */
import { check, version as readVersion } from "../../api/registry.js";
import { asksFor } from "../edit/places/levels.js";

/** The number of newest versions to check. */
export const MOST = 20;

/**
 * @typedef {{version: number, backward: number[], forward: number[]}} Refused
 *   `backward`: the earlier versions whose data it cannot read; `forward`: the earlier versions that cannot read its
 *   data
 */

/**
 * @param {string} subject
 * @param {string} level
 * @param {number[]} versions
 * @param {AbortSignal} signal
 * @returns {Promise<{refused: Refused[]}>}  newest first
 */
export async function refusedBy(subject, level, versions, signal) {
  const newest = [...versions].sort((one, other) => other - one).slice(0, MOST);
  const refused = [];
  for (const number of newest) {
    const earlier = versions.filter((version) => version < number);
    if (earlier.length === 0 || level === "NONE") continue;
    const { schema, schemaType, references } = await readVersion(subject, number, { signal });
    const answer = await check({ subject, schema, schemaType, references }, {
      level,
      every: true,
      explain: false,
      signal,
    });
    const verdict = judged(number, earlier, level, answer.versions);
    if (verdict !== null) refused.push(verdict);
  }
  return { refused };
}

/**
 * The earlier versions that break under a level; null if none does.
 * @param {number} number
 * @param {number[]} earlier
 * @param {string} level
 * @param {{version: number, backward: boolean, forward: boolean}[]} verdicts
 * @returns {Refused | null}
 */
export function judged(number, earlier, level, verdicts) {
  const before = Math.max(...earlier);
  const broken = (/** @type {"BACKWARD" | "FORWARD"} */ direction) =>
    verdicts
      .filter(({ version }) => version < number && asksFor(level, version, before, direction))
      .filter(({ backward, forward }) => !(direction === "BACKWARD" ? backward : forward))
      .map(({ version }) => version)
      .sort((one, other) => one - other);
  const backward = broken("BACKWARD");
  const forward = broken("FORWARD");
  return backward.length || forward.length ? { version: number, backward, forward } : null;
}
