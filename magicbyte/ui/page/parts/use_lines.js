/** A streamed answer as a hook: the rows so far and the server's progress. */
import { ApiError } from "../api/client.js";
import { useEffect, useRef, useState } from "../vendor/ui.js";

/**
 * @template Row, Begin, Progress, End
 * @typedef {{rows: Row[], begin: Begin | null, progress: Progress | null, end: End | null,
 *   error: any, cancelled: boolean, running: boolean}} LinesState
 */
/**
 * A line has exactly one of these members.
 * @template Row, Begin, Progress, End
 * @typedef {{row?: Row, begin?: Begin, progress?: Progress, end?: End}} Line
 */

/** @type {LinesState<any, any, any, any>} */
const NOTHING = {
  rows: [],
  begin: null,
  progress: null,
  end: null,
  error: null,
  cancelled: false,
  running: true,
};

/**
 * Sends the request when it changes. Leaving the page also stops the work on the server.
 * @template Wanted, Row, Begin, Progress, End
 * @param {Wanted} wanted the request
 * @param {(wanted: Wanted, signal: AbortSignal) => AsyncIterable<Line<Row, Begin, Progress, End>>} ask
 * @returns {LinesState<Row, Begin, Progress, End> & {cancel: () => void, again: () => void}}
 */
export function useLines(wanted, ask) {
  const key = JSON.stringify(wanted);
  const [state, setState] = useState({ ...NOTHING, key });
  const [round, setRound] = useState(0);
  const running = useRef(/** @type {AbortController | null} */ (null));
  useEffect(() => {
    const controller = running.current = new AbortController();
    const { signal } = controller;
    let now = NOTHING;
    const put = (/** @type {Partial<typeof NOTHING>} */ change) => {
      now = { ...now, ...change };
      setState({ ...now, key });
    };
    put({});
    const read = async () => {
      let rows = now.rows;
      for await (const { row, ...others } of ask(wanted, signal)) {
        // Collect rows and render them with the next progress line, not one by one.
        if (row) rows = [...rows, row];
        else put({ rows, ...others });
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
