/** A search as a hook: what it has found so far, and how far it is. */
import { ApiError } from "../../../api/client.js";
import { search } from "../../../api/messages.js";
import { useEffect, useRef, useState } from "../../../vendor/ui.js";

/** @typedef {import("../../../api/messages.js").FoundRecord} FoundRecord */
/**
 * @typedef {{records: FoundRecord[], begin: import("../../../api/messages.js").Begin | null,
 *   progress: import("../../../api/messages.js").Progress | null, end: import("../../../api/messages.js").End | null,
 *   error: any, cancelled: boolean, running: boolean}} SearchState
 */

/** @type {SearchState} */
const NOTHING = {
  records: [],
  begin: null,
  progress: null,
  end: null,
  error: null,
  cancelled: false,
  running: true,
};

/**
 * Searches when the request changes; leaving the page ends the search on the server, too.
 * @param {import("../../../api/messages.js").Wanted} wanted
 * @returns {SearchState & {cancel: () => void, again: () => void}}
 */
export function useSearch(wanted) {
  const key = JSON.stringify(wanted);
  const [state, setState] = useState({ ...NOTHING, key });
  const [round, setRound] = useState(0);
  const running = useRef(/** @type {AbortController | null} */ (null));
  useEffect(() => {
    const controller = running.current = new AbortController();
    const { signal } = controller;
    /** @type {SearchState} */
    let now = NOTHING;
    const put = (/** @type {Partial<SearchState>} */ change) => {
      now = { ...now, ...change };
      setState({ ...now, key });
    };
    put({});
    const read = async () => {
      let records = now.records;
      for await (
        const { begin, record, progress, end } of search(wanted, signal)
      ) {
        // Records are drawn with the next line of progress, not one by one.
        if (record) records = [...records, record];
        else {put({
            records,
            ...(begin ? { begin } : {}),
            ...(progress ? { progress } : {}),
            ...(end ? { end } : {}),
          });}
      }
      if (!now.end) {
        throw new ApiError({ status: 0, message: "The answer broke off." });
      }
      put({ running: false });
    };
    read().catch((error) => {
      if (signal.aborted) {
        if (running.current === controller) {
          put({ running: false, cancelled: true });
        }
      } else put({ running: false, error });
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
