/** Finds the version that added each entry of an outline, from the consecutive comparisons. Pure. */

/** @import { Comparison } from "../../text/answers.d.ts" */

/**
 * The version of each path, as words: `v2`, or `v1 or before` if the comparisons do not go back to the first version.
 * @param {string[]} paths
 * @param {Comparison[]} comparisons newest first, each compares a version with the previous version
 * @param {number} version the version that has the paths
 * @returns {Map<string, string>}
 */
export function sinceOf(paths, comparisons, version) {
  /** Path in the version that the loop has reached -> path in the outline. @type {Map<string, string>} */
  let then = new Map(paths.map((path) => [path, path]));
  /** @type {Map<string, string>} */
  const since = new Map();
  let oldest = version;
  let broken = false;
  for (const comparison of comparisons) {
    if (comparison.error) {
      broken = true;
      break;
    }
    const added = new Set(
      comparison.changes.filter((change) => change.kind === "added").map((change) => change.new?.path),
    );
    const renamed = new Map(
      comparison.changes.filter((change) => change.old && change.new && change.old.path !== change.new.path)
        .map((change) => [change.new?.path, /** @type {string} */ (change.old?.path)]),
    );
    /** @type {Map<string, string>} */
    const before = new Map();
    for (const [path, today] of then) {
      if (isAdded(path, added)) since.set(today, `v${comparison.to.version}`);
      else before.set(renamed.get(path) ?? path, today);
    }
    then = before;
    oldest = comparison.from.version ?? oldest;
  }
  for (const today of then.values()) since.set(today, broken || oldest > 1 ? `v${oldest} or before` : `v${oldest}`);
  return since;
}

/**
 * Whether a path or one of its enclosing entries was added.
 * @param {string} path
 * @param {Set<string | undefined>} added
 */
function isAdded(path, added) {
  for (let end = 0; end <= path.length; end += 1) {
    const isEnd = end === path.length || path[end] === "." || path[end] === "/";
    if (isEnd && added.has(path.slice(0, end))) return true;
  }
  return false;
}
