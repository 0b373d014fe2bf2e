/** Messages of a topic: a page of one partition's records, decoded; newest, oldest, from a time, or as they come. */
import * as rest from "../../../api/rest.js";
import { Button, LinkButton } from "../../../parts/buttons.js";
import { Icon } from "../../../parts/icon.js";
import { Select } from "../../../parts/menus.js";
import { Empty } from "../../../parts/states.js";
import { CurlButton } from "../../../parts/copying.js";
import { useKeys } from "../../../frame/keyboard.js";
import { href, path, setQuery } from "../../../state/routes.js";
import { config, may } from "../../../state/signals.js";
import { html, useState } from "../../../vendor/ui.js";
import { BrokerStrip, FromBroker, NoProxy, useBroker } from "../broker.js";
import { TopicHead } from "../head.js";
import { decodeRecords } from "./decode_records.js";
import { Followed, PAGE } from "./followed.js";
import { RecordList } from "./record_list.js";

/** @typedef {import("./followed.js").Page} Page */
/** @typedef {import("./followed.js").OnEnd} OnEnd */

/** @param {import("../../../state/types.d.ts").ViewProps} props */
export default function MessagesPage({ params: { topic }, query }) {
  const bounds = useBroker((signal) => rest.partitions(topic, { signal }), [topic, query.follow ?? ""]);
  const [followed, setFollowed] = useState({ partition: -1, end: 0 });
  // Records that came while following are counted too.
  const partitions = bounds.data?.map((/** @type {rest.Partition} */ row) =>
    row.partition === followed.partition ? { ...row, end: Math.max(row.end, followed.end) } : row
  );
  const actions = html`<${LinkButton} kind="primary" href=${href(path`/topics/${topic}/produce`)} reason=${
    may("produce").reason
  }>Produce</${LinkButton}>`;
  return html`
    <${TopicHead} topic=${topic} tab="messages" partitions=${partitions} actions=${config.value.restAvailable &&
      actions} />
    <${BrokerStrip} request=${bounds} />
    <div class="page messages">
          ${config.value.restAvailable
            ? html`<${FromBroker} request=${bounds} rows=${12}>${(/** @type {rest.Partition[]} */ partitions) =>
              html`<${Partition} topic=${topic} partitions=${partitions} query=${query} onEnd=${setFollowed} />`}</${FromBroker}>`
            : html`<${NoProxy} topic=${topic} />`}
        </div>
  `;
}

/**
 * Where the shown page begins, by the URL.
 * @param {rest.Partition} bounds
 * @param {Record<string, string>} query
 * @returns {{offset?: number, timestamp?: number}}
 */
function startOf(bounds, { offset = "", at = "" }) {
  if (at) {
    const time = /^\d+$/.test(at) ? Number(at) : Date.parse(at);
    if (Number.isFinite(time)) return { timestamp: time };
  }
  if (/^\d{1,15}$/.test(offset)) return { offset: Math.max(bounds.first, Number(offset)) };
  return { offset: Math.max(bounds.first, bounds.end - PAGE) };
}

/** @param {{topic: string, partitions: rest.Partition[], query: Record<string, string>, onEnd: OnEnd}} props */
function Partition({ topic, partitions, query, onEnd }) {
  const wanted = /^\d+$/.test(query.partition ?? "") ? Number(query.partition) : fullest(partitions);
  const bounds = partitions.find(({ partition }) => partition === wanted);
  if (!bounds) {
    return html`<${Empty} title=${`There is no partition ${wanted}`} actions=${html`<${Button} onClick=${() =>
      setQuery({ partition: null, offset: null })}>Show another partition</${Button}>`} />`;
  }
  return html`
    <${Records} key=${wanted} topic=${topic} partitions=${partitions} bounds=${bounds} query=${query}
      onEnd=${onEnd} />
  `;
}

/** @param {rest.Partition[]} partitions */
const fullest = (partitions) =>
  partitions.reduce((best, row) => row.end - row.first > best.end - best.first ? row : best, partitions[0])
    ?.partition ?? 0;

/** @param {{topic: string, partitions: rest.Partition[], bounds: rest.Partition, query: Record<string, string>, onEnd: OnEnd}} props */
function Records({ topic, partitions, bounds, query, onEnd }) {
  const { partition } = bounds;
  const start = startOf(bounds, query);
  const follows = query.follow === "true";
  const stored = query.raw === "true";
  const page = useBroker(
    (signal) => readPage(topic, partition, start, stored, signal),
    [topic, partition, query.offset ?? "", query.at ?? "", follows, query.raw ?? ""],
  );
  const shown = /** @type {Page | undefined} */ (page.data);
  const first = shown?.records[0]?.offset ?? start.offset ?? bounds.end;
  const next = shown?.next ?? first + PAGE;
  const last = shown?.end ?? bounds.end;
  const to = (/** @type {number | null} */ offset) =>
    setQuery({ partition, offset, at: null, open: null, follow: null }, { replace: false });
  const older = () => first > bounds.first && to(Math.max(bounds.first, first - PAGE));
  const newer = () => next < last && to(next);
  useKeys({ "[": ["Older records", older], "]": ["Newer records", newer] }, { scope: "Messages" });
  return html`<div class="message-bar">
      <${PartitionSelect} partitions=${partitions} partition=${partition} />
      <${OffsetInput} key=${first} offset=${first} onGo=${to} />
      <span class="row">
        <${Button} kind="icon" label="Older records" disabled=${
    first <= bounds.first
  } onClick=${older}><${Icon} name="left" /></${Button}>
        <${Button} kind="icon" label="Newer records" disabled=${
    next >= last
  } onClick=${newer}><${Icon} name="right" /></${Button}>
      </span>
      <span class="seg" role="group" aria-label="Where to begin">
        <button type="button" aria-pressed=${String(!query.offset && !query.at && !follows)} onClick=${() =>
    to(null)}>newest</button>
        <button type="button" aria-pressed=${String(first === bounds.first && Boolean(query.offset))} onClick=${() =>
    to(bounds.first)}>oldest</button>
        <button type="button" aria-pressed=${String(follows)} onClick=${() =>
    setQuery({ partition, offset: null, at: null, open: null, follow: follows ? null : true }, {
      replace: false,
    })}>follow</button>
      </span>
      <${TimeInput} at=${query.at ?? ""} partition=${partition} />
      <span class="grow"></span>
      <label class="check" title="Avro as it is stored: bytes of decimals, numbers of times, tagged unions"><input type="checkbox" checked=${stored} onChange=${() =>
    setQuery({ raw: stored ? null : true })} />as stored</label>
      <${CurlButton} kind="quiet" request=${{
    method: "GET",
    path: path`/topics/${topic}/partitions/${partition}/messages`,
    query: { offset: first, count: PAGE },
    base: "rest",
    headers: { Accept: "application/vnd.kafka.binary.v1+json" },
  }} />
    </div>
    <${BrokerStrip} request=${page} />
    <${FromBroker} request=${page} rows=${12} height=${34}>${(/** @type {Page} */ read) =>
    follows
      ? html`
        <${Followed} key=${String(stored)} stored=${stored} topic=${topic} partition=${partition} page=${read}
          query=${query} onEnd=${onEnd} />
      `
      : html`
        <${RecordList} topic=${topic} records=${read.records} query=${query} />
        <${Foot} page=${read} bounds=${bounds} query=${query} onNewer=${newer} />
      `}</${FromBroker}>`;
}

/**
 * @param {string} topic
 * @param {number} partition
 * @param {{offset?: number, timestamp?: number}} start
 * @param {boolean} stored
 * @param {AbortSignal} signal
 * @returns {Promise<Page>}
 */
async function readPage(topic, partition, start, stored, signal) {
  const page = await rest.read(topic, partition, start, { limit: PAGE, signal });
  return { ...page, records: await decodeRecords(topic, page.records, { signal, stored }) };
}

/** @param {{partitions: rest.Partition[], partition: number}} props */
const PartitionSelect = ({ partitions, partition }) =>
  html`
    <${Select} label="Partition" value=${String(partition)}
      options=${partitions.map((row) => [String(row.partition), `partition ${row.partition}`])}
      onChange=${(/** @type {string} */ value) =>
        setQuery({ partition: value, offset: null, at: null, open: null }, { replace: false })} />
  `;

/** @param {{offset: number, onGo: (offset: number) => void}} props */
function OffsetInput({ offset, onGo }) {
  const [text, setText] = useState(String(offset));
  const go = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (/^\d{1,15}$/.test(text)) onGo(Number(text));
  };
  return html`
    <form class="row offset-form" onSubmit=${go}>
      <label class="dim s" for="offset">offset</label>
      <input id="offset" class="input mono num" inputmode="numeric" autocomplete="off" value=${text}
        aria-invalid=${String(!/^\d{1,15}$/.test(text))}
        onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value.trim())} />
    </form>
  `;
}

/** @param {{at: string, partition: number}} props */
function TimeInput({ at, partition }) {
  const time = at ? new Date(/^\d+$/.test(at) ? Number(at) : at) : null;
  const value = time && Number.isFinite(time.getTime())
    ? new Date(time.getTime() - time.getTimezoneOffset() * 60000).toISOString().slice(0, 19)
    : "";
  const change = (/** @type {any} */ event) => {
    const chosen = new Date(event.currentTarget.value);
    if (!Number.isFinite(chosen.getTime())) return;
    setQuery({ partition, at: chosen.toISOString(), offset: null, open: null, follow: null }, { replace: false });
  };
  return html`<label class="row s dim at-time"><span>at time</span>
    <input class="input num" type="datetime-local" step="1" value=${value} onChange=${change} /></label>`;
}

/** @param {{page: Page, bounds: rest.Partition, query: Record<string, string>, onNewer: () => void}} props */
function Foot({ page, bounds, query, onNewer }) {
  const { records, next } = page;
  const end = page.end ?? bounds.end;
  if (records.length === 0) {
    const where = query.at
      ? "since that time"
      : bounds.end > bounds.first && query.offset
      ? `from offset ${query.offset} on`
      : "in this partition";
    return html`<${Empty} title=${`No records ${where}`} actions=${html`<${Button} onClick=${() =>
      setQuery({ offset: null, at: null, follow: true })}>Follow</${Button}>
      ${
      bounds.end > bounds.first && html`<${Button} onClick=${() =>
        setQuery({ offset: null, at: null })}>Newest records</${Button}>`
    }`} />`;
  }
  return html`<p class="message-foot dim s num">Offsets ${records[0].offset} to ${
    records[records.length - 1].offset
  } of ${bounds.first} to ${end - 1}.
    ${
    next < end
      ? html`
        <${Button} kind="small" onClick=${onNewer}>Newer records</${Button}>
      `
      : " This is the end."
  }</p>`;
}
