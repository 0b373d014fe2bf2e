/** A count of letters as a hook: the groups and letters so far, and its progress. */
import { countLetters } from "../../api/dead_letters.js";
import { useLines } from "../../parts/use_lines.js";

/** @typedef {import("../../api/dead_letters.js").LetterRequest} LetterRequest */

/** @param {LetterRequest} wanted @param {AbortSignal} signal */
async function* ask(wanted, signal) {
  for await (const { letter, ...progress } of countLetters(wanted, signal)) yield { row: letter, ...progress };
}

/**
 * Counts when the request changes. Leaving the page also stops the count on the server.
 * @param {LetterRequest} wanted
 */
export function useLetters(wanted) {
  const { rows: letters, ...count } = useLines(wanted, ask);
  return { ...count, letters, counts: count.end ?? count.progress };
}
