/**
 * Produces one record. The form starts with an example, the serdes check it while the user types, and the checked bytes
 * are sent.
 */
import * as rest from "../../../api/rest.js";
import { Button } from "../../../parts/buttons.js";
import { Card } from "../../../parts/cards.js";
import { CurlButton } from "../../../parts/copying.js";
import { Select } from "../../../parts/menus.js";
import { Failure } from "../../../parts/states.js";
import { toast } from "../../../parts/toasts.js";
import { useRequest } from "../../../parts/use_request.js";
import { useKeys } from "../../../parts/keyboard.js";
import { path } from "../../../api/encode_url.js";
import { go, href } from "../../../state/routes.js";
import { listingError, readListing } from "../../../state/live_listing.js";
import { config, may } from "../../../state/signals.js";
import { html, useState } from "../../../vendor/ui.js";
import { BrokerStrip, FromBroker, NoProxy, useBroker } from "../../kafka/broker.js";
import { decodeRecords } from "../../kafka/decode_records.js";
import { TopicHead } from "../topic_head.js";
import { HeaderInputs, headersOf } from "./header_inputs.js";
import { PartInput } from "./part_input.js";
import { PARTS, useSubjects } from "../../kafka/topic_subjects.js";

/** @typedef {import("./part_input.js").Written} Written */
/** @typedef {import("../../kafka/decode_records.js").DecodedRecord} DecodedRecord */

/** @param {import("../../../state/types.d.ts").ViewProps} props */
export default function ProducePage({ params: { topic }, query }) {
  const bounds = useBroker((signal) => rest.partitions(topic, { signal }), [topic]);
  return html`
    <${TopicHead} topic=${topic} tab="produce" partitions=${bounds.data} />
    <${BrokerStrip} request=${bounds} />
    <div class="page produce">
          ${config.value.restAvailable
            ? html`<${FromBroker} request=${bounds} rows=${8}>${(/** @type {rest.Partition[]} */ partitions) =>
              html`<${LoadedForm} topic=${topic} partitions=${partitions} query=${query} />`}</${FromBroker}>`
            : html`<${NoProxy} topic=${topic} />`}
        </div>
  `;
}

/**
 * Waits for the subjects, and for the record to produce again.
 * @param {{topic: string, partitions: rest.Partition[], query: Record<string, string>}} props
 */
function LoadedForm({ topic, partitions, query }) {
  const subjects = useSubjects();
  const { partition, offset } = query;
  const isAgain = /^\d+$/.test(partition ?? "") && /^\d+$/.test(offset ?? "");
  const again = useRequest(isAgain ? (signal) => recordAt(topic, Number(partition), Number(offset), signal) : null, [
    topic,
    partition,
    offset,
  ]);
  const cluster = useRequest(() => rest.clusterId(), [topic]);
  const failed = [again, cluster].find(({ error }) => error);
  if (failed) return html`<${Failure} error=${failed.error} again=${failed.reload} />`;
  if (!subjects && listingError.value) return html`<${Failure} error=${listingError.value} again=${readListing} />`;
  if (!subjects || cluster.data === undefined || (isAgain && !again.data)) return null;
  return html`
    <${Form} topic=${topic} partitions=${partitions} cluster=${cluster.data} before=${again.data ?? null}
      subjects=${Object.fromEntries(
        PARTS.map((part) => [part, subjects.has(`${topic}-${part}`) ? `${topic}-${part}` : ""]),
      )} />
  `;
}

/**
 * @param {string} topic
 * @param {number} partition
 * @param {number} offset
 * @param {AbortSignal} signal
 * @returns {Promise<DecodedRecord | null>}
 */
async function recordAt(topic, partition, offset, signal) {
  const { records } = await rest.read(topic, partition, { offset }, { limit: 1, signal });
  return (await decodeRecords(topic, records, { signal }))[0] ?? null;
}

/** @param {{topic: string, partitions: rest.Partition[], cluster: string | null, before: DecodedRecord | null, subjects: Record<string, string>}} props */
function Form({ topic, partitions, cluster, before, subjects }) {
  const [partition, setPartition] = useState("");
  const [key, setKey] = useState(/** @type {Written} */ ({ bytes: null, problem: "…" }));
  const [value, setValue] = useState(/** @type {Written} */ ({ bytes: null, problem: "…" }));
  const [headers, setHeaders] = useState(() =>
    (before?.headers ?? []).filter(({ name }) => !/^__(key|value)_schema_id$/.test(name))
  );
  const [sent, setSent] = useState(/** @type {{partition: number, offset: number}[]} */ ([]));
  const [error, setError] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const allowed = may("produce");
  const request = rest.produceRequest(cluster, topic, {
    partition: partition === "" ? undefined : Number(partition),
    key: key.bytes,
    value: value.bytes,
    headers: headersOf(headers),
  });
  const reason = allowed.reason || (value.problem && `The value: ${value.problem}`) ||
    (key.problem && `The key: ${key.problem}`);
  const send = async () => {
    if (reason || busy) return;
    setBusy(true);
    try {
      const record = await rest.produce(request);
      setError(null);
      setSent((all) => [record, ...all].slice(0, 10));
      const to = path`/topics/${topic}/messages`;
      const query = { partition: record.partition, offset: record.offset, open: record.offset };
      toast(`Record ${record.partition}:${record.offset} is in ${topic}`, {
        action: { label: "Show it", onClick: () => go(to, query) },
      });
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  useKeys({ "Ctrl-Enter": ["Produce the record", send] }, { scope: "Produce" });
  return html`
    <div class="produce-grid">
      <${PartInput} part="value" topic=${topic} subject=${subjects.value} before=${before &&
        { bytes: before.value, decoded: before.decoded?.value }} onChange=${setValue} />
      <div class="stack">
          <${PartInput} part="key" topic=${topic} subject=${subjects.key} before=${before &&
            { bytes: before.key, decoded: before.decoded?.key }} onChange=${setKey} />
          ${cluster !== null && html`<${HeaderInputs} headers=${headers} onChange=${setHeaders} />`}
        </div>
      <div class="produce-foot card">
        <${Select} label="Partition" value=${partition} onChange=${setPartition}
          options=${[
            ["", "partition by key"],
            ...partitions.map((row) => [String(row.partition), `partition ${row.partition}`]),
          ]} />
        <span class="grow"></span>
        <${CurlButton} request=${request} />
        <${Button} kind="primary" disabled=${busy} reason=${reason} onClick=${send}>Produce</${Button}>
        </div>
        ${error && html`<${Failure} error=${error} />`}
        ${sent.length > 0 && html`
          <${Card} title="Produced">
            <ul class="sent">${sent.map((record) =>
              html`<li key=${`${record.partition}:${record.offset}`}>
      <a class="link mono num" href=${
                href(path`/topics/${topic}/messages`, { ...record, open: record.offset })
              }>${record.partition}:${record.offset}</a></li>`
            )}</ul>
            </${Card}>
        `}
      </div>
  `;
}
