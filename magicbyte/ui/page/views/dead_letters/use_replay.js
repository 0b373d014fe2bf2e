/** A replay as a hook: first a dry run, then the replay of exactly those letters, several hundred per request. */
import { ApiError } from "../../api/client.js";
import { lettersOf, MOST_AT_ONCE, replay, replayRequest } from "../../api/dead_letters.js";
import { clusterId } from "../../api/rest.js";
import { useEffect, useRef, useState } from "../../vendor/ui.js";

/** @typedef {import("../../api/dead_letters.js").Place} Place */
/** @typedef {import("../../api/dead_letters.js").Outcome} Outcome */
/** @typedef {import("../../api/dead_letters.js").Repair} Repair */
/**
 * `isDry`: nothing was sent; `total`: the number of selected letters; `cluster`: null until the proxy has returned it.
 * @typedef {{isDry: boolean, running: boolean, cancelled: boolean, total: number, outcomes: Outcome[],
 *   rights: import("../../api/dead_letters.js").Right[], warnings: string[], error: any, cluster: string | null}} ReplayState
 */
/**
 * What to replay: picked letters, or the letters of a request.
 * @typedef {{topic: string, picks: Place[], wanted: import("../../api/dead_letters.js").LetterRequest, repair: Repair}} ReplayScope
 */

/** @type {ReplayState} */
const NOTHING = {
  isDry: true,
  running: false,
  cancelled: false,
  total: 0,
  outcomes: [],
  rights: [],
  warnings: [],
  error: null,
  cluster: null,
};

/**
 * @param {ReplayScope} asked a change resets the state
 * @param {() => void} onSent called after letters were sent
 */
export function useReplay(asked, onSent) {
  const key = JSON.stringify(asked);
  const [state, setState] = useState({ ...NOTHING, key });
  const running = useRef(/** @type {AbortController | null} */ (null));
  useEffect(() => () => running.current?.abort(), [key]);
  const shown = state.key === key ? state : { ...NOTHING, key };

  const run = async (/** @type {boolean} */ isDry) => {
    const controller = running.current = new AbortController();
    const { signal } = controller;
    /** @type {ReplayState} */
    let now = { ...NOTHING, isDry, running: true };
    const put = (/** @type {Partial<ReplayState>} */ change) => {
      now = { ...now, ...change };
      setState({ ...now, key });
    };
    put({});
    try {
      const cluster = await clusterId();
      if (cluster === null) throw new ApiError({ status: 404, message: "This REST proxy has no version 3." });
      const places = isDry ? await placesOf(asked, signal) : sendable(shown.outcomes);
      put({ cluster, total: places.length });
      let left = places;
      while (left.length && !signal.aborted) {
        const chunk = left.slice(0, MOST_AT_ONCE);
        const options = { ...asked.repair, ...(isDry ? { validate_only: true } : {}) };
        const answer = await replay(replayRequest(cluster, asked.topic, chunk, options), signal);
        const again = answer.letters.filter(({ outcome }) => outcome === "left").map(placeOf);
        if (again.length === chunk.length) throw new ApiError({ status: 504, message: "No letter was read in time." });
        left = [...again, ...left.slice(MOST_AT_ONCE)];
        put({
          outcomes: [...now.outcomes, ...answer.letters.filter(({ outcome }) => outcome !== "left")],
          rights: answer.missing_rights,
          warnings: [...new Set([...now.warnings, ...answer.warnings])],
        });
      }
      put({ running: false, cancelled: signal.aborted });
    } catch (error) {
      if (running.current !== controller) return;
      put({ running: false, ...(signal.aborted ? { cancelled: true } : { error }) });
    }
    if (!isDry && running.current === controller) onSent();
  };
  return {
    ...shown,
    sendable: shown.isDry && !shown.running ? sendable(shown.outcomes) : [],
    run,
    cancel: () => running.current?.abort(),
  };
}

/** @param {ReplayScope} asked @param {AbortSignal} signal @returns {Promise<Place[]>} */
async function placesOf({ picks, wanted, repair }, signal) {
  if (picks.length) return picks;
  const open = repair.again ? wanted : { replayed: false, ...wanted };
  return (await lettersOf(open, signal)).map(({ partition, offset }) => ({ partition, offset }));
}

/** @param {Outcome} outcome @returns {Place} */
const placeOf = ({ partition_id: partition, offset }) => ({ partition, offset });

/** @param {Outcome[]} outcomes */
const sendable = (outcomes) => outcomes.filter(({ outcome }) => outcome === "would_be_sent").map(placeOf);
