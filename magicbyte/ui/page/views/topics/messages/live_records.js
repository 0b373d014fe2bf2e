/** Shows new records of all partitions until the user leaves the page. */
import { searchAll } from "../../../api/messages.js";
import { announce } from "../../../parts/toasts.js";
import { counted } from "../../../text/counted.js";
import { html, useEffect, useRef, useState } from "../../../vendor/ui.js";
import { RecordList } from "./record_list.js";

/** @typedef {import("../../../api/messages.js").FoundRecord} FoundRecord */
/** @typedef {import("../../../api/messages.js").SearchRequest} SearchRequest */
/**
 * @typedef {(ends: Record<string, number>) => void} OnEnds called with the next offset of each partition when records
 *   arrive
 */

/** The pause between two requests for further records, in ms, and the most records to keep. */
const PAUSE = 1000;
const KEPT = 500;

/**
 * Shows records as they arrive, the newest at the end.
 * @param {{wanted: SearchRequest, query: Record<string, string>, onEnds: OnEnds}} props
 */
export function LiveRecords({ wanted, query, onEnds }) {
  const [records, setRecords] = useState(/** @type {FoundRecord[]} */ ([]));
  const [state, setState] = useState("beginning");
  const foot = useRef(/** @type {any} */ (null));
  const before = useRef(records);
  useEffect(() => {
    const controller = new AbortController();
    follow(wanted, controller.signal, {
      onRecords: (fresh, isNew) => {
        setState("waiting");
        if (!fresh.length) return;
        if (isNew) {
          announce(
            counted(fresh.length, "new record"),
          );
        }
        setRecords((before) => [...before, ...fresh].slice(-KEPT));
      },
      onEnds,
      onLost: () => setState("lost"),
    });
    return () => controller.abort();
  }, []);
  useEffect(() => {
    if (before.current === records) return;
    before.current = records;
    const bottom = foot.current?.getBoundingClientRect().bottom ?? 0;
    if (bottom > innerHeight && bottom < innerHeight + 400) {
      foot.current.scrollIntoView({ block: "end" });
    }
  }, [records]);
  const what = wanted.filter ? "records that fit the filter" : "records";
  return html`
    <${RecordList} wanted=${wanted} records=${records} query=${query} />
    <p class="message-foot dim s" ref=${foot}
      data-following=${state}><span class="live ${state === "lost" ? "gone" : ""}">${state === "lost"
        ? "The broker does not answer; asking again."
        : `Waiting for further ${what}.`}</span></p>
  `;
}

/**
 * Reads further records until `signal` aborts; pauses while the tab is hidden.
 * @param {SearchRequest} wanted
 * @param {AbortSignal} signal
 * @param {{onRecords: (records: FoundRecord[], isNew: boolean) => void, onEnds: OnEnds, onLost: () => void}} page
 */
async function follow(wanted, signal, { onRecords, onEnds, onLost }) {
  const {
    since: _since,
    until: _until,
    offset: _offset,
    cursor: _cursor,
    ...rest
  } = wanted;
  let wait = 1;
  /** @type {string | null} */
  let cursor = null;
  while (!signal.aborted) {
    if (document.hidden) {
      await new Promise((resolve) =>
        document.addEventListener("visibilitychange", () => resolve(null), {
          once: true,
          signal,
        })
      );
      continue;
    }
    try {
      if (cursor === null) {
        // With a filter, the newest matches may be far back, so show only new records.
        const { begin, records } = await searchAll(
          {
            ...rest,
            order: "newest",
            ...(wanted.filter ? { filter: undefined, limit: 1 } : {}),
          },
          signal,
        );
        cursor = Object.entries(begin.partitions).map(([partition, [, end]]) => `${partition}:${end}`).join(",");
        onRecords(wanted.filter ? [] : records.reverse(), false);
      } else {
        const { records, end } = await searchAll({
          ...rest,
          order: "oldest",
          cursor,
        }, signal);
        onRecords(records, true);
        if (end.scanned) onEnds(endsOf(end.cursor));
        cursor = end.cursor;
        if (!end.scanned) await pause(PAUSE);
      }
      wait = 1;
    } catch {
      if (signal.aborted) return;
      onLost();
      await pause(wait * 1000);
      wait = Math.min(30, wait * 2);
    }
  }
}

/** The offsets by partition in a cursor such as `0:42,1:17`. @param {string} cursor */
const endsOf = (cursor) =>
  Object.fromEntries(
    cursor.split(",").map((part) => part.split(":")).map((
      [name, end],
    ) => [name, Number(end)]),
  );

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
