/** The schemas of a topic's newest records, with a note on unexpected ones. */
import { searchAll } from "../../api/messages.js";
import { bytesOf } from "../../api/serdes.js";
import { gapFact } from "../../api/fact.js";
import { Card } from "../../parts/cards.js";
import { GapWords } from "../../parts/gap.js";
import { Shown } from "../../parts/hostile.js";
import { Skeleton } from "../../parts/states.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { config, context } from "../../state/signals.js";
import { cells } from "../../text/bytes.js";
import { html } from "../../vendor/ui.js";
import { useBroker } from "../kafka/broker.js";
import { counted } from "../../text/counted.js";
import { headerOf } from "../kafka/decode_records.js";
import { PARTS } from "../kafka/topic_subjects.js";

/**
 * `id`: a number, a guid, or PLAIN
 * @typedef {{part: "key" | "value", id: string, records: number,
 *   holder: import("../../api/serdes.js").Decoded | null}} SchemaInUse
 */

const RECORDS = 100;
/** The label for keys and values that begin with no schema id. */
const PLAIN = "no schema id";

/** @param {{topic: string, partitions: import("../../api/rest.js").Partition[], subjects?: Map<string, any>}} props */
export function SchemasInUse({ topic, partitions, subjects }) {
  const request = useBroker((signal) => readSchemas(topic, signal), [topic, partitions.map(({ end }) => end)]);
  const { data, error } = request;
  if (!data) {
    return html`
      <${Card} title="In the newest records">
        ${error ? html`<${GapWords} fact=${gapFact(error)} />` : html`<${Skeleton} rows=${2} height=${28} />`}
        </${Card}>
    `;
  }
  if (data.records === 0) {
    return html`
      <${Card} title="In the newest records">
        <p class="dim s">The topic has no records.</p>
        </${Card}>
    `;
  }
  const title = `In the last ${counted(data.records, "record")}`;
  return html`
    <${Card} title=${title} bare>
      <ul class="met">${data.schemas.map((/** @type {SchemaInUse} */ row) =>
        html`<${SchemaRow} key=${row.part + row.id} topic=${topic} row=${row} subjects=${subjects} />`
      )}</ul>
      </${Card}>
  `;
}

/** @param {{topic: string, row: SchemaInUse, subjects?: Map<string, any>}} props */
function SchemaRow({ topic, row: { part, id, records, holder }, subjects }) {
  const subject = `${topic}-${part}`;
  const held = holder?.subject ? { subject: holder.subject, version: Number(holder.version) } : null;
  const isOther = held !== null && held.subject !== subject;
  const latest = subjects?.get(subject)?.version;
  return html`
    <li>
      <span class="met-part dim s">${part}</span>
      <span class="mono s anywhere">${id === PLAIN
        ? html`<span class="dim">${PLAIN}</span>`
        : isGuid(id)
        ? html`<a class="link" href=${href(path`/schemas/guids/${id}`)}>guid ${id}</a>`
        : html`<a class="link num" href=${href(path`/schemas/ids/${id}`)}>id ${id}</a>`}</span>
      <span class="mono s anywhere grow">${held &&
        html`<a href=${
          href(path`/subjects/${held.subject}/versions/${held.version}`)
        }><${Shown} name text=${held.subject} /> v${held.version}</a>`}
          ${holder?.reason === "unknown" && html`
            <span class="badge bad">✕ unknown to the registry${config.value.accessRules &&
              ", or you may not read it"}</span>
          `}
          ${isOther && html`
            <span class="badge warn">of another subject</span>
          `}
          ${held && !isOther && held.version === latest && html`
            <span class="badge line">latest</span>
          `}</span>
      <span class="num s dim">${counted(records, "record")}</span>
    </li>
  `;
}

/**
 * Reads the schemas with one search, which finds the records and decodes them; this also gives the schemas' subjects.
 * @param {string} topic
 * @param {AbortSignal} signal
 */
async function readSchemas(topic, signal) {
  const inContext = context.peek() ? { context: context.peek() } : {};
  const { records } = await searchAll({ topic, order: "newest", limit: RECORDS, ...inContext }, signal);
  /** @type {Map<string, SchemaInUse>} */
  const rows = new Map();
  for (const record of records) {
    for (const part of PARTS) {
      const id = idOf(record, part);
      if (id === null) continue;
      const row = rows.get(part + id) ??
        { part, id, records: 0, holder: id === PLAIN ? null : record.decoded[part] };
      row.records += 1;
      rows.set(part + id, row);
    }
  }
  const all = [...rows.values()].sort((a, b) => a.part < b.part ? -1 : a.part > b.part ? 1 : b.records - a.records);
  return { records: records.length, schemas: all };
}

/** @param {string} id */
const isGuid = (id) => id.includes("-");

/**
 * The schema id at the start of a key or value, or its guid from a header or the start; null without a key or value.
 * @param {import("../../api/rest.js").RecordBytes} record
 * @param {"key" | "value"} part
 */
function idOf(record, part) {
  if (record[part] === null) return null;
  const header = headerOf(record, part);
  const id = cells(bytesOf(header ?? record[part])).find(({ kind }) => kind === "guid" || (kind === "id" && !header));
  return id && (isGuid(id.words) || /^\d+$/.test(id.words)) ? id.words : PLAIN;
}
