/** A count of letters as a hook: the groups and letters so far, and how far it is. */
import { ApiError } from "../../api/client.js";
import { countLetters } from "../../api/dead_letters.js";
import { useEffect, useRef, useState } from "../../vendor/ui.js";

/**
 * @typedef {{letters: import("../../api/dead_letters.js").Letter[], begin: import("../../api/dead_letters.js").Begin | null,
 *   counts: import("../../api/dead_letters.js").Counts | null, end: import("../../api/dead_letters.js").End | null,
 *   error: any, cancelled: boolean, running: boolean}} LettersState
 */

/** @type {LettersState} */
const NOTHING = { letters: [], begin: null, counts: null, end: null, error: null, cancelled: false, running: true };

/**
 * Counts when the request changes; leaving the page ends the count on the server, too.
 * @param {import("../../api/dead_letters.js").WantedLetters} wanted
 * @returns {LettersState & {cancel: () => void, again: () => void}}
 */
export function useLetters(wanted) {
  const key = JSON.stringify(wanted);
  const [state, setState] = useState({ ...NOTHING, key });
  const [round, setRound] = useState(0);
  const running = useRef(/** @type {AbortController | null} */ (null));
  useEffect(() => {
    const controller = running.current = new AbortController();
    const { signal } = controller;
    /** @type {LettersState} */
    let now = NOTHING;
    const put = (/** @type {Partial<LettersState>} */ change) => {
      now = { ...now, ...change };
      setState({ ...now, key });
    };
    put({});
    const read = async () => {
      let letters = now.letters;
      for await (const { begin, letter, progress, end } of countLetters(wanted, signal)) {
        // Letters are drawn with the next line of another kind, not one by one.
        if (letter) letters = [...letters, letter];
        else {
          const counts = end ?? progress;
          put({ letters, ...(begin ? { begin } : {}), ...(counts ? { counts } : {}), ...(end ? { end } : {}) });
        }
      }
      if (!now.end) throw new ApiError({ status: 0, message: "The answer broke off." });
      put({ running: false });
    };
    read().catch((error) => {
      if (!signal.aborted) put({ running: false, error });
      else if (running.current === controller) put({ running: false, cancelled: true });
    });
    return () => {
      running.current = null;
      controller.abort();
    };
  }, [key, round]);
  const shown = state.key === key ? state : { ...NOTHING, key };
  return {
    ...shown,
    cancel: () => running.current?.abort(),
    again: () => setRound((count) => count + 1),
  };
}
