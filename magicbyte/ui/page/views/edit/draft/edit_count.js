/** How many edits a draft has since the version it began with: runs of changed lines of both texts, pretty. */
import { asStored, pretty } from "../../../text/pretty.js";
import { diffArrays } from "../../../vendor/diff.js";

/** Longer texts, in characters and lines of both, are not counted while one types. */
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
 * A comma behind the last member comes and goes with the next one: it is no edit.
 * @param {string} line
 */
function bare(line) {
  return line.replace(/,\s*$/, "");
}
