/** A record: one line, and all of its parts below. */
import { searchAll } from "../../../api/messages.js";
import { bytesOf } from "../../../api/serdes.js";
import { TypeBadge } from "../../../parts/badges.js";
import { Button, LinkButton } from "../../../parts/buttons.js";
import { CopyButton } from "../../../parts/copying.js";
import { Shown } from "../../../parts/hostile.js";
import { Icon } from "../../../parts/icon.js";
import { absolute, isTime, timeOfDay } from "../../../parts/times.js";
import { useRequest } from "../../../parts/use_request.js";
import { path } from "../../../api/encode_url.js";
import { href } from "../../../state/routes.js";
import { fromBase64, plainText, toHex } from "../../../text/bytes.js";
import { counted } from "../../../text/counted.js";
import { html, useState } from "../../../vendor/ui.js";
import { Cells, Dump } from "./cells.js";
import { hiddenWords, InLine, plainOf, SchemaOf } from "./decoded.js";
import { textOf, ValueText } from "./value_text.js";
import { Remarks } from "./remarks.js";

/** @typedef {import("../../../api/rest.js").RecordBytes} RecordBytes */
/** @typedef {import("../../../api/serdes.js").Decoded} Decoded */
/** @typedef {import("../../../api/messages.js").FoundRecord} FoundRecord */
/** @typedef {import("../../../api/messages.js").SearchRequest} SearchRequest */
/** @typedef {import("../../kafka/decode_records.js").DecodedRecord} DecodedRecord */

/** @param {{record: FoundRecord, wanted: SearchRequest, query: Record<string, string>, open: boolean, onToggle: () => void}} props */
export function RecordRow({ record, wanted, query, open, onToggle }) {
  const { partition, offset, key, value, decoded } = record;
  const id = `r${partition}-${offset}`;
  return html`<li class="record ${open ? "open" : ""}" id=${id}>
    <div class="record-line">
      <button type="button" class="record-at mono num" data-key=${id} aria-expanded=${String(open)} onClick=${onToggle}>
        <${Icon} name="chevron" size=${11} />${partition}:${offset}
      </button>
      <${RecordTime} ms=${record.timestamp} />
      <span class="record-key mono cut"><span class="faint">key</span> <${InLine} bytes=${key} decoded=${decoded.key} /></span>
      <span class="record-id mono">${
    value === null
      ? html`<span class="badge line">tombstone</span>`
      : decoded.value.as
      ? html`<span class="badge line">${decoded.value.as}</span>`
      : plainOf(value, decoded.value)
      ? html`<span class="badge line">no schema</span>`
      : html`<${SchemaOf} decoded=${decoded.value} subject=${wanted.topic + "-value"} />`
  }</span>
      <span class="record-value mono cut">${
    value !== null &&
    html`<${InLine} bytes=${value} decoded=${decoded.value} />`
  }</span>
    </div>
    ${
    open &&
    html`<${RecordParts} record=${record} wanted=${wanted} query=${query} />`
  }
  </li>`;
}

/** @param {{ms: number | null}} props */
function RecordTime({ ms }) {
  if (ms === null || ms < 0 || !isTime(ms)) {
    return html`<span class="record-time mono faint">no time</span>`;
  }
  return html`
    <time class="record-time mono num" datetime=${new Date(ms).toISOString()}
      title=${absolute(ms)}>${timeOfDay(ms)}</time>
  `;
}

/** Whether a part of a record is cut. @param {FoundRecord} record */
const isCut = ({ cut, decoded }) =>
  cut ||
  [decoded.key, decoded.value].some(({ preview }) => preview !== undefined);

/** @param {{record: FoundRecord, wanted: SearchRequest, query: Record<string, string>}} props */
function RecordParts({ record: shown, wanted, query }) {
  const { partition, offset, timestamp } = shown;
  const { topic } = wanted;
  const [wants, setWants] = useState(false);
  const whole = useRequest(
    wants ? (signal) => wholeRecord(wanted, shown, signal) : null,
    [partition, offset, wants],
  );
  /** @type {FoundRecord} */
  const record = whole.data ?? shown;
  const { decoded, headers } = record;
  const cut = isCut(record);
  const reading = { key: query.key, value: query.value, raw: query.raw };
  const here = href(path`/topics/${topic}/messages`, {
    partition,
    offset,
    open: `${partition}-${offset}`,
    ...reading,
  });
  return html`
    <div class="record-parts stack">
      <div class="row wrap">
        <span class="dim s">${timestamp === null || !isTime(timestamp) ? "Without a time" : absolute(timestamp)}</span>
        ${cut && html`
          <span class="badge warn">only the beginning is shown</span>
          <${Button} kind="small" disabled=${wants && whole.loading}
            onClick=${() => setWants(true)}>Show the whole record</${Button}>
        `}
        ${whole.error &&
          html`<span class="bad-text s" role="alert">✕ ${whole.error.message}</span>`}
        <span class="grow"></span>
        <${CopyButton} text=${() =>
          new URL(here, location.href)
            .href} what="Link to the record copied" kind="quiet small">Copy link</${CopyButton}>
          <${LinkButton} kind="quiet small" href=${href(
            path`/topics/${topic}/produce`,
            {
              partition,
              offset,
            },
          )}>Produce again</${LinkButton}>
        </div>
        <${Part} name="Value" bytes=${record.value} size=${record
          .valueSize} cut=${cut} decoded=${decoded.value}
          subject=${topic + "-value"} />
        <${Part} name="Key" bytes=${record.key} size=${record
          .keySize} cut=${cut} decoded=${decoded.key}
          subject=${topic + "-key"} />
        ${headers.length > 0 && html`<${HeaderList} headers=${headers} />`}
      </div>
  `;
}

/**
 * Reads a record with all of its bytes.
 * @param {SearchRequest} wanted
 * @param {FoundRecord} record
 * @param {AbortSignal} signal
 * @returns {Promise<FoundRecord>}
 */
async function wholeRecord(
  { topic, context, keyAs, valueAs, logical, unions },
  { partition, offset },
  signal,
) {
  const reading = { context, keyAs, valueAs, logical, unions };
  const { records } = await searchAll(
    {
      topic,
      ...reading,
      partitions: [partition],
      offset,
      order: "oldest",
      limit: 1,
      whole: true,
    },
    signal,
  );
  if (records[0]?.offset !== offset) {
    throw new Error("The record has been deleted meanwhile.");
  }
  return records[0];
}

/** @param {{headers: import("../../../api/rest.js").Header[]}} props */
const HeaderList = ({ headers }) =>
  html`
    <section class="card part">
      <header>
        <h3>Headers</h3>
      </header>
      <dl class="facts body">${headers.map(({ name, value }, i) => {
        const bytes = value === null ? null : fromBase64(value);
        const plain = bytes && plainText(bytes);
        return html`
          <dt key=${"n" + i} class="mono">
            <${Shown} text=${name} />
          </dt>
          <dd key=${"v" + i} class="mono">${bytes === null
            ? html`<span class="faint">null</span>`
            : plain
            ? html`<${Shown} text=${plain.text} />`
            : toHex(bytes, " ")}</dd>
        `;
      })}</dl>
    </section>
  `;

/** @param {{name: string, bytes: string | null, size: number | null, cut: boolean, decoded: Decoded, subject: string}} props */
function Part({ name, bytes: packed, size, cut, decoded, subject }) {
  const [raw, setRaw] = useState(false);
  if (packed === null) {
    return html`
      <section class="card part">
        <header><h3>${name}</h3><span class="dim s">null${name === "Value" ? ": a tombstone" : ""}</span></header>
      </section>
    `;
  }
  const bytes = bytesOf(packed);
  const plain = plainOf(packed, decoded);
  const index = decoded.bytes?.index;
  const framed = !plain && !decoded.as && decoded.bytes?.guid === undefined;
  const isCutText = decoded.preview !== undefined;
  const text = plain
    ? plain.text
    : isCutText
    ? decoded.preview + "…"
    : decoded.error === undefined
    ? textOf(decoded.value, 2)
    : "";
  const showsBytes = raw || (decoded.error !== undefined && !plain);
  return html`
    <section class="card part">
      <header>
          <h3>${name}</h3>
          ${decoded.type && html`<${TypeBadge} type=${decoded.type} />`}
          ${decoded.name &&
            html`<span class="mono dim xs anywhere"><${Shown} text=${decoded.name} /></span>`}
          <${SchemaOf} decoded=${decoded} subject=${subject} />
          ${plain && html`<span class="badge line">no schema</span>`}
          ${decoded.as &&
            html`<span class="badge line">read as ${decoded.as}</span>`}
          <span class="grow"></span>
          <span class="dim xs num">${counted(size ?? bytes.length, "byte")}</span>
          ${text && !cut && html`
            <${CopyButton} text=${text} what="${name} copied"
              kind="quiet small">Copy</${CopyButton}>
          `}
          <${Button} kind="quiet small" aria-pressed=${String(
            raw,
          )} onClick=${() => setRaw(!raw)}>Hex</${Button}>
          ${!cut && html`
            <${CopyButton} text=${() => toHex(bytes)} what="Bytes copied"
              kind="quiet small">Copy hex</${CopyButton}>
            <${LinkButton} kind="quiet small" href=${href("/decode", {}, {
              hash: "hex=" + toHex(bytes.subarray(0, 65536)),
            })}>Decode</${LinkButton}>
          `}
        </header>
        ${decoded.error !== undefined && !plain &&
          html`
            <p
              class="bad-text body s anywhere">✕ not decoded: <${Shown} text=${decoded
                .error} />${decoded.at !== null && decoded.at !== undefined
                ? `, at byte ${decoded.at}`
                : ""}${hiddenWords(decoded) && `.${hiddenWords(decoded)}`}</p>
          `}
        ${showsBytes && html`
          <div class="body stack">
            <${Cells} bytes=${bytes} index=${index} framed=${framed} />
            <${Dump} bytes=${bytes} index=${index} framed=${framed} />
          </div>
        `}
        ${!showsBytes &&
          (plain?.kind === "text" || isCutText
            ? html`<pre class="code body plain"><${Shown} text=${text} /></pre>`
            : html`
              <${ValueText} text=${text} label=${name} />
              <${Remarks} remarks=${decoded.remarks} leftOut=${decoded
                .remarksLeftOut} />
            `)}
      </section>
  `;
}
