/** Keyboard shortcuts of a subject's pages: other versions, compare, edit, and the forms of a version. */

import { useKeys } from "../../parts/keyboard.js";
import { path } from "../../api/encode_url.js";
import { go } from "../../state/routes.js";

/**
 * @param {string} subject
 * @param {number | undefined} version the version on the page, if there is one
 * @param {number[]} versions the versions to go to, ascending
 */
export function useSubjectKeys(subject, version, versions) {
  const latest = versions.at(-1);
  const at = version ?? latest;
  /** @param {number | undefined} number */
  const open = (number) => number !== undefined && go(path`/subjects/${subject}/versions/${number}`);
  const before = versions.filter((number) => at !== undefined && number < at).at(-1);
  const after = versions.find((number) => at !== undefined && number > at);
  useKeys({
    "[": ["version before", () => open(before)],
    "]": ["next version", () => open(after)],
    // Without `from`, the registry compares with the previous version.
    d: ["compare with the version before", () => go(path`/subjects/${subject}/compare`, { from: before, to: at })],
    e: ["propose a version", () => go(path`/subjects/${subject}/edit`, { from: at })],
    s: ["schema", () => go(path`/subjects/${subject}/versions/${at ?? "latest"}`)],
    f: ["fields", () => go(path`/subjects/${subject}/versions/${at ?? "latest"}`, { view: "fields" })],
  }, { scope: "A subject" });
}
