/** A count of letters as a hook: the groups and letters so far, and how far it is. */
import { countLetters } from "../../api/dead_letters.js";
import { useLines } from "../../parts/use_lines.js";

/** @typedef {import("../../api/dead_letters.js").LetterRequest} LetterRequest */

/** @param {LetterRequest} wanted @param {AbortSignal} signal */
async function* ask(wanted, signal) {
  for await (const { letter, ...progress } of countLetters(wanted, signal)) yield { row: letter, ...progress };
}

/**
 * Counts when the request changes; leaving the page ends the count on the server, too.
 * @param {LetterRequest} wanted
 */
export function useLetters(wanted) {
  const { rows: letters, ...count } = useLines(wanted, ask);
  return { ...count, letters, counts: count.end ?? count.progress };
}
