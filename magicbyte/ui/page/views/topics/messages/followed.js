/** Records of a partition as they come, until the page is left. */
import * as rest from "../../../api/rest.js";
import { announce } from "../../../parts/toasts.js";
import { html, useEffect, useRef, useState } from "../../../vendor/ui.js";
import { decodeRecords } from "./decode_records.js";
import { RecordList } from "./record_list.js";

/** @typedef {import("./record.js").DecodedRecord} DecodedRecord */
/** @typedef {rest.Page & {records: DecodedRecord[]}} Page */
/** @typedef {(reached: {partition: number, end: number}) => void} OnEnd a partition's end, as records come */

/** The most records of an answer. */
export const PAGE = 50;
/** The ms that the proxy waits for a record, and the most records that are kept. */
const WAIT = 8000;
const KEPT = 500;

/** Records as they come, the newest at the end. @param {{topic: string, partition: number, page: Page, stored: boolean, query: Record<string, string>, onEnd: OnEnd}} props */
export function Followed({ topic, partition, page, stored, query, onEnd }) {
  const [records, setRecords] = useState(page.records);
  const [state, setState] = useState("waiting");
  const foot = useRef(/** @type {any} */ (null));
  const before = useRef(records);
  useEffect(() => {
    const controller = new AbortController();
    follow(topic, partition, page.next, stored, controller.signal, (fresh) => {
      setState("waiting");
      if (!fresh.length) return;
      announce(`${fresh.length} new ${fresh.length === 1 ? "record" : "records"}`);
      setRecords((before) => [...before, ...fresh].slice(-KEPT));
      onEnd({ partition, end: fresh[fresh.length - 1].offset + 1 });
    }, () => setState("lost"));
    return () => controller.abort();
  }, []);
  useEffect(() => {
    if (before.current === records) return;
    before.current = records;
    const bottom = foot.current?.getBoundingClientRect().bottom ?? 0;
    if (bottom > innerHeight && bottom < innerHeight + 400) foot.current.scrollIntoView({ block: "end" });
  }, [records]);
  return html`
    <${RecordList} topic=${topic} records=${records} query=${query} />
    <p class="message-foot dim s" ref=${foot}
      data-following=${state}><span class="live ${state === "lost" ? "gone" : ""}">${state === "lost"
        ? "The broker does not answer; asking again."
        : `Waiting for records after offset ${(records.at(-1)?.offset ?? page.next - 1)}.`}</span></p>
  `;
}

/**
 * Reads on until it is aborted; waits while the tab is hidden.
 * @param {string} topic
 * @param {number} partition
 * @param {number} next
 * @param {boolean} stored
 * @param {AbortSignal} signal
 * @param {(records: DecodedRecord[]) => void} onRecords
 * @param {() => void} onLost
 */
async function follow(topic, partition, next, stored, signal, onRecords, onLost) {
  let wait = 1;
  while (!signal.aborted) {
    if (document.hidden) {
      await new Promise((resolve) =>
        document.addEventListener("visibilitychange", () => resolve(null), { once: true, signal })
      );
      continue;
    }
    try {
      const page = await rest.read(topic, partition, { offset: next }, { limit: PAGE, wait: WAIT, signal });
      const records = await decodeRecords(topic, page.records, { signal, stored });
      if (signal.aborted) return;
      onRecords(records);
      // A proxy without version 3 does not wait for records.
      if (!records.length && (await rest.clusterId()) === null) await pause(1500);
      next = page.next;
      wait = 1;
    } catch {
      if (signal.aborted) return;
      onLost();
      await pause(wait * 1000);
      wait = Math.min(30, wait * 2);
    }
  }
}

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
