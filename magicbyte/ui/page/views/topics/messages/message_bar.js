/**
 * Controls for the selection and order of messages, and for the formats of keys and values. Their state is in the URL.
 */
import { CurlButton } from "../../../parts/copying.js";
import { Select } from "../../../parts/menus.js";
import { TimeInput } from "../../../parts/time_input.js";
import { setQuery } from "../../../state/routes.js";
import { html, useState } from "../../../vendor/ui.js";
import { KINDS, orderOf, splitKind, timeOf } from "./search_request.js";

/** @typedef {import("../../../api/types.d.ts").Query} Query */

/**
 * Shows other records; clears the cursor and the open record, which belong to the previous records.
 * @param {Query} patch
 */
const show = (patch) => setQuery({ cursor: null, open: null, ...patch }, { replace: false });

/**
 * @param {{partitions: import("../../../api/rest.js").Partition[], query: Record<string, string>,
 *   wanted: import("../../../api/messages.js").SearchRequest}} props
 */
export function MessageBar({ partitions, query, wanted }) {
  const follows = query.follow === "true";
  const order = orderOf(query);
  const begin = (/** @type {Query} */ patch) => show({ offset: null, since: null, follow: null, ...patch });
  return html`
    <div class="message-bar">
      <${Select} label="Partition" value=${query.partition ?? ""}
        options=${[
          ["", "all partitions"],
          ...partitions.map((
            row,
          ) => [String(row.partition), `partition ${row.partition}`]),
        ]}
        onChange=${(/** @type {string} */ value) => show({ partition: value, offset: null })} />
      <span class="seg" role="group" aria-label="Where to begin">
        <button type="button" aria-pressed=${String(
          !follows && order === "newest",
        )}
          onClick=${() => begin({ order: null })}>newest</button>
        <button type="button" aria-pressed=${String(
          !follows && order === "oldest",
        )}
          onClick=${() => begin({ order: "oldest" })}>oldest</button>
        <button type="button" aria-pressed=${String(follows)}
          onClick=${() =>
            begin({
              order: null,
              follow: follows ? null : true,
            })}>follow</button>
      </span>
      <${OffsetInput} key=${"at" +
        (query.offset ?? "")} offset=${query.offset ?? ""} />
      <${TimeInput} label="from" at=${timeOf(query.since)} onTime=${(
        /** @type {string} */ since,
      ) => show({ since, follow: null })} />
      <${TimeInput} label="to" at=${timeOf(query.until)} onTime=${(
        /** @type {string} */ until,
      ) => show({ until, follow: null })} />
      <span class="grow"></span>
      <${KindSelect} part="key" kind=${query.key} />
      <${KindSelect} part="value" kind=${query.value} />
      <label class="check"
        title="Avro as it is stored: bytes of decimals, numbers of times, tagged unions"><input type="checkbox" checked=${query
          .raw === "true"} onChange=${() =>
          setQuery({
            raw: query.raw === "true" ? null : true,
          })} />as stored</label>
      <${CurlButton} kind="quiet" request=${{
        method: "POST",
        path: "/messages",
        base: "ui",
        body: wanted,
      }} />
    </div>
  `;
}

/** @param {{part: "key" | "value", kind?: string}} props */
function KindSelect({ part, kind }) {
  const chosen = splitKind(kind);
  const [id, setId] = useState(chosen.id);
  const put = (/** @type {string} */ value) => setQuery({ [part]: value === "message" ? null : value });
  const go = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (/^\d{1,10}$/.test(id)) put("schema:" + id);
  };
  return html`<span class="row s kind-select"><span class="dim">${part}</span>
    <${Select} label=${`Read ${part}s as`} value=${chosen.kind} options=${KINDS}
      onChange=${(/** @type {string} */ value) =>
    put(
      value === "schema" && /^\d{1,10}$/.test(id) ? "schema:" + id : value,
    )} />
    ${
    chosen.kind === "schema" && html`
      <form class="row" onSubmit=${go}>
        <input class="input mono num" aria-label=${`Schema id of ${part}s`} inputmode="numeric"
          autocomplete="off"
          placeholder="id" value=${id} aria-invalid=${String(
            !/^\d{1,10}$/.test(id),
          )}
          onChange=${go}
          onInput=${(/** @type {any} */ event) => setId(event.currentTarget.value.trim())} />
      </form>
    `
  }</span>`;
}

/** @param {{offset: string}} props */
function OffsetInput({ offset }) {
  const [text, setText] = useState(offset);
  const isOffset = /^\d{0,15}$/.test(text);
  const go = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (isOffset) show({ offset: text, order: null, follow: null });
  };
  return html`
    <form class="row offset-form" onSubmit=${go}>
      <label class="dim s" for="offset">offset</label>
      <input id="offset" class="input mono num" inputmode="numeric"
        autocomplete="off" value=${text}
        aria-invalid=${String(!isOffset)}
        onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value.trim())} />
    </form>
  `;
}
