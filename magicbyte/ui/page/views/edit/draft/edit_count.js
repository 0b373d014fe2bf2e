/** Counts a draft's edits since the version that it began with: runs of changed lines in the pretty texts. */
import { asStored, pretty } from "../../../text/pretty.js";
import { diffArrays } from "../../../vendor/diff.js";

/** The edits of longer texts (characters or lines of both) are not counted while the user types. */
const MOST = 200_000;
const MOST_LINES = 5000;

/**
 * @param {string} start
 * @param {string} text
 * @param {import("../code/open_editor.js").SchemaType} type
 * @returns {number | null}
 */
export function editCount(start, text, type) {
  if (start === text) return 0;
  if (start.length + text.length > MOST) return null;
  const [before, after] = [start, text].map((side) => pretty(asStored(side, type)).text.split("\n").map(bare));
  if (before.length + after.length > MOST_LINES) return null;
  const changes = diffArrays(before, after, { timeout: 50 });
  if (changes === undefined) return null;
  return changes.filter(({ added, removed }, index) => {
    const follows = index > 0 && (changes[index - 1].added || changes[index - 1].removed);
    return (added || removed) && !follows;
  }).length;
}

/**
 * Removes the comma after a member: it comes and goes with the next member, so it is not an edit.
 * @param {string} line
 */
function bare(line) {
  return line.replace(/,\s*$/, "");
}
