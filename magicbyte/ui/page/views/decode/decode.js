/** Decode: pasted bytes, their cells, and the value. The state is in the URL's fragment, which browsers never send. */
import { decode } from "../../api/serdes.js";
import { TypeBadge } from "../../parts/badges.js";
import { Segmented } from "../../parts/buttons.js";
import { Card, Note } from "../../parts/cards.js";
import { CopyButton } from "../../parts/copying.js";
import { perhapsHidden } from "../../parts/gap.js";
import { Shown } from "../../parts/hostile.js";
import { Failure, Skeleton } from "../../parts/states.js";
import { useRequest } from "../../parts/use_request.js";
import { goTo, href, route } from "../../state/routes.js";
import { context } from "../../state/signals.js";
import { guess, parseBytes, plainText, toBase64, toEscapes, toHex } from "../../text/bytes.js";
import { counted } from "../../text/counted.js";
import { html, useEffect, useState } from "../../vendor/ui.js";
import { Cells, Dump } from "../topics/messages/cells.js";
import { SchemaOf } from "../topics/messages/decoded.js";
import { ReadAs } from "../topics/messages/read_as.js";
import { textOf, ValueText } from "../topics/messages/value_text.js";
import { Remarks } from "../topics/messages/remarks.js";

/** @typedef {import("../../text/bytes.js").Form} Form */

/** Longer inputs are not kept in the URL. */
const LONGEST_HASH = 16384;
const PLACEHOLDER = "00 00 00 00 03 …   or   AAAAAAM…   or   b'\\x00\\x00\\x00\\x00\\x03…'";

/** The state in the fragment. @param {string} hash */
function read(hash) {
  const fields = new URLSearchParams(hash.replaceAll("+", "%2B"));
  const form = /** @type {Form | undefined} */ (["hex", "base64", "escapes"].find((name) => fields.has(name)));
  return { form, text: form ? fields.get(form) ?? "" : "", as: fields.get("as") ?? "", raw: fields.has("raw") };
}

/** @param {import("../../state/types.d.ts").ViewProps} _props */
export default function DecodePage(_props) {
  const [state, setState] = useState(() => ({ ...read(route.peek().hash) }));
  const { text, as, raw, form } = state;
  useEffect(() => {
    const change = () => setState(read(location.hash.slice(1)));
    addEventListener("hashchange", change);
    addEventListener("popstate", change);
    return () => {
      removeEventListener("hashchange", change);
      removeEventListener("popstate", change);
    };
  }, []);
  const put = (/** @type {Partial<typeof state>} */ change) => {
    const next = { ...state, ...change };
    setState(next);
    goTo(href("/decode", {}, { hash: fragmentOf(next) }), { replace: true, quiet: true });
  };
  const parsed = text.trim() ? parseBytes(text, form) : null;
  return html`<div class="page decode">
    <div class="page-head"><h1 tabindex="-1">Decode</h1><span class="dim s">Pasted bytes go to the registry's decoder, and into no URL that is sent.</span></div>
    <section class="card decode-input" aria-label="Bytes">
      <div class="body stack">
        <textarea class="area" rows="5" aria-label="Bytes as hexadecimal, base64 or escapes" placeholder=${PLACEHOLDER} spellcheck=${false} autocomplete="off"
          aria-invalid=${String(Boolean(parsed && "error" in parsed))} value=${text} onInput=${(
    /** @type {any} */ event,
  ) => put({ text: event.currentTarget.value, as: "" })}></textarea>
        <div class="row wrap">
          <${Segmented} label="The text is" value=${form ?? "auto"} onChange=${(/** @type {string} */ value) =>
    put({ form: value === "auto" ? undefined : /** @type {Form} */ (value) })}
            options=${[["auto", !form && text.trim() ? `auto: ${NAMES[guess(text)]}` : "auto"], ["hex", "hex"], [
    "base64",
    "base64",
  ], ["escapes", "\\x00"]]} />
          <span class="grow"></span>
          ${
    parsed && "bytes" in parsed && html`
      <span class="dim s num">${counted(parsed.bytes.length, "byte")}</span>
      <${CopyButton} kind="quiet small" text=${toHex(parsed.bytes)} what="Hexadecimal copied">hex</${CopyButton}>
                  <${CopyButton} kind="quiet small" text=${toBase64(
                    parsed.bytes,
                  )} what="Base64 copied">base64</${CopyButton}>
                  <${CopyButton} kind="quiet small" text=${toEscapes(
                    parsed.bytes,
                  )} what="Escapes copied">\\x00</${CopyButton}>
    `
  }
        </div>
        ${parsed && "error" in parsed && html`<p class="bad-text s" role="alert">✕ ${parsed.error}</p>`}
      </div>
    </section>
    ${
    parsed && "bytes" in parsed && parsed.bytes.length > 0 && html`
      <${Message} bytes=${parsed.bytes} as=${as} raw=${raw}
        onAs=${(/** @type {string} */ value) => put({ as: value })} onRaw=${() => put({ raw: !raw })}
        onBytes=${(/** @type {Uint8Array} */ bytes) => put({ text: toHex(bytes), form: "hex", as: "" })} />
    `
  }
    ${!text.trim() && html`<${Help} />`}
  </div>`;
}

/** @type {Record<Form, string>} */
const NAMES = { hex: "hex", base64: "base64", escapes: "\\x00" };

/** @param {{text: string, form?: Form, as: string, raw: boolean}} state */
function fragmentOf({ text, form, as, raw }) {
  if (text.length > LONGEST_HASH || !text.trim()) return "";
  const fields = new URLSearchParams({ [form ?? guess(text)]: text.trim() });
  if (as) fields.set("as", as);
  if (raw) fields.set("raw", "");
  return fields.toString();
}

/** @param {{bytes: Uint8Array, as: string, raw: boolean, onAs: (id: string) => void, onRaw: () => void, onBytes: (bytes: Uint8Array) => void}} props */
function Message({ bytes, as, raw, onAs, onRaw, onBytes }) {
  const packed = toBase64(bytes);
  const wanted = { ...(as ? { schemaId: Number(as) } : {}), ...(raw ? { logical: false, unions: "tagged" } : {}) };
  const request = useRequest(
    (signal) => decode([packed], { isKey: false, ...wanted }, { signal }).then(([item]) => item),
    [packed, as, raw, context.value],
  );
  const decoded = request.data;
  const framed = !as;
  const plain = decoded?.error !== undefined && (bytes[0] > 1 || bytes.length < 5) ? plainText(bytes) : null;
  const text = decoded && decoded.error === undefined ? textOf(decoded.value, 2) : "";
  return html`
    <${Cells} bytes=${bytes} index=${decoded?.bytes?.index} framed=${framed} />
    <div class="decode-answer stack">
        ${request.error && html`<${Failure} error=${request.error} again=${request.reload} />`}
        ${!decoded && request.loading && html`<${Skeleton} rows=${3} />`}
        ${decoded?.error !== undefined && html`
          <${Note} tone=${plain ? "info" : "bad"} who=${plain ? "No schema id" : "Not decoded"}
            rule=${decoded.at === null || decoded.at === undefined ? null : `byte ${decoded.at}`}
            actions=${html`<${ReadAs} bytes=${bytes} as=${as} onAs=${onAs} onBytes=${onBytes} />`}>
            <${Shown} text=${sentence(decoded.error)} />
            ${decoded.reason === "unknown" && perhapsHidden()}
            </${Note}>
        `}
        ${plain &&
          html`<${Card} title=${
            plain.kind === "JSON" ? "As JSON" : "As a text"
          } bare aside=${html`<${CopyButton} kind="quiet small" text=${plain.text}>Copy</${CopyButton}>`}>
      ${
            plain.kind === "JSON"
              ? html`<${ValueText} text=${plain.text} label="Value" />`
              : html`<pre class="code body plain"><${Shown} text=${plain.text} /></pre>`
          }</${Card}>`}
        ${decoded && decoded.error === undefined && html`
          <section class="card" data-decoded>
            <header><h2>Value</h2><${TypeBadge} type=${decoded.type} />
                  ${decoded.subject &&
                    html`<span class="mono s anywhere"><${Shown} name text=${decoded.subject} /> v${decoded.version}</span>`}
                  ${decoded.name && html`<span class="mono dim xs anywhere"><${Shown} text=${decoded.name} /></span>`}
                  <${SchemaOf} decoded=${decoded} bare />
                  <span class="grow"></span>
                  ${decoded.type === "AVRO" &&
                    html`<label class="check"><input type="checkbox" checked=${raw} onChange=${onRaw} />as stored</label>`}
                  <${CopyButton} kind="quiet small" text=${text} what="Value copied">Copy</${CopyButton}>
                </header>
                <${ValueText} text=${text} label="Value" />
                <${Remarks} remarks=${decoded.remarks} leftOut=${decoded.remarksLeftOut} />
                ${as && html`
                  <footer
                    class="row wrap"><span class="grow">All bytes were read as a payload of id ${as}.</span><${ReadAs} bytes=${bytes} as=${as} onAs=${onAs} onBytes=${onBytes} /></footer>
                `}
              </section>
        `}
    </div>
    <details class="card bytes">
      <summary>All ${counted(bytes.length, "byte")}</summary>
      <${Dump} bytes=${bytes} index=${decoded?.bytes?.index} framed=${framed} />
    </details>
  `;
}

/** @param {string} text */
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

/** Explains the format of a message. */
const Help = () =>
  html`
    <section class="card decode-answer">
      <div class="body stack">
        <h2>A message with a schema</h2>
        <${Cells} bytes=${Uint8Array.from([0, 0, 0, 0, 3, 10, 104, 101, 108, 108, 111])} />
        <p
          class="dim s">Paste what a tool printed: <span class="mono">kcat</span>, <span class="mono">xxd</span>, <span class="mono">hexdump -C</span>, a Python <span class="mono">bytes</span> literal, base64 from a log. A guid in place of the id begins with 1. Protobuf has the message's index before the payload.</p>
      </div>
    </section>
  `;
