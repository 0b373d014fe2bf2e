/** A request as a hook: aborted when its inputs change, sent again when the registry is back. */
import { ApiError } from "../api/client.js";
import { comebacks } from "../state/signals.js";
import { useCallback, useEffect, useRef, useState } from "../vendor/ui.js";

/**
 * @template T
 * @typedef {{data: T | undefined, error: any, loading: boolean, reload: () => void, cancel: () => void}} RequestState
 */

/**
 * Sends the request when the inputs change. Until then the last data stays.
 * @template T
 * @param {((signal: AbortSignal) => Promise<T>) | null} ask null sends no request
 * @param {readonly any[]} inputs
 * @returns {RequestState<T>}
 */
export function useRequest(ask, inputs) {
  const key = JSON.stringify(inputs);
  const [state, setState] = useState({
    key,
    data: /** @type {T | undefined} */ (undefined),
    error: /** @type {any} */ (null),
    loading: true,
  });
  const [round, setRound] = useState(0);
  const running = useRef(/** @type {AbortController | null} */ (null));
  const current = state.key === key ? state : { key, data: undefined, error: null, loading: true };
  const failed = useRef(false);
  failed.current = Boolean(current.error) && mayPass(current.error);
  const back = comebacks.value;
  const seen = useRef(back);

  useEffect(() => {
    if (!ask) {
      setState({ key, data: undefined, error: null, loading: false });
      return;
    }
    const controller = running.current = new AbortController();
    setState((before) =>
      before.key === key ? { ...before, loading: true } : { key, data: undefined, error: null, loading: true }
    );
    ask(controller.signal).then(
      (data) => !controller.signal.aborted && setState({ key, data, error: null, loading: false }),
      (error) => {
        if (controller.signal.aborted) return;
        if (!(error instanceof ApiError)) console.warn(error);
        setState((before) => ({ key, data: before.key === key ? before.data : undefined, error, loading: false }));
      },
    );
    return () => controller.abort();
  }, [key, round]);

  useEffect(() => {
    if (back === seen.current) return;
    seen.current = back;
    if (failed.current) setRound((count) => count + 1);
  }, [back]);

  const reload = useCallback(() => setRound((count) => count + 1), []);
  const cancel = useCallback(() => {
    running.current?.abort();
    setState((before) => ({
      ...before,
      loading: false,
      error: new ApiError({ status: 0, message: "Cancelled before an answer came." }),
    }));
  }, []);
  return { data: current.data, error: current.error, loading: current.loading, reload, cancel };
}

/** Whether a failure may be transient. @param {any} error */
const mayPass = (error) => error.status === 0 || error.status >= 500;
