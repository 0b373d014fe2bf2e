/** A decoded key or value in one line: its schema and value, or the reason why there is none. */
import { bytesOf } from "../../../api/serdes.js";
import { perhapsHidden } from "../../../parts/gap.js";
import { Shown } from "../../../parts/hostile.js";
import { path } from "../../../api/encode_url.js";
import { href } from "../../../state/routes.js";
import { plainText } from "../../../text/bytes.js";
import { html } from "../../../vendor/ui.js";
import { OneLine, PREVIEW } from "./value_text.js";

/** @typedef {import("../../../api/serdes.js").Decoded} Decoded */

/** The hint that an unknown schema may be hidden from the user. @param {Decoded} decoded */
export const hiddenWords = ({ reason }) => reason === "unknown" ? perhapsHidden() : "";

/** Reasons of failed decoding after which the bytes may be a text without a schema. */
const UNFRAMED = new Set(["magic", "truncated"]);

/**
 * The text of bytes without a schema; null if they are not a text.
 * @param {string | null} bytes base64
 * @param {Decoded} decoded
 */
export const plainOf = (bytes, decoded) =>
  bytes !== null && UNFRAMED.has(decoded.reason ?? "") ? plainText(bytesOf(bytes)) : null;

/**
 * The schema of a key or value: a link such as `id 3 (v3)`.
 * @param {{decoded: Decoded, subject?: string, bare?: boolean}} props `bare`: omit the version
 */
export function SchemaOf({ decoded, subject, bare = false }) {
  const { schemaId, guid, version, subject: holder } = decoded;
  if (schemaId === undefined && guid === undefined) return null;
  const words = schemaId === undefined ? `guid ${String(guid).slice(0, 8)}` : `id ${schemaId}`;
  const other = bare ? "" : holder && holder !== subject ? `${holder} v${version}` : version ? `v${version}` : "";
  const to = holder && version
    ? href(path`/subjects/${holder}/versions/${version}`)
    : schemaId === undefined
    ? href(path`/schemas/guids/${String(guid)}`)
    : href(path`/schemas/ids/${schemaId}`);
  // The subject's name may be long: truncate the name, but never the id.
  return html`<a class="link schema-of s num" href=${to} title=${other ? `${words} (${other})` : undefined}><span
    class="schema-id">${words}</span>${
    other && html`
      <span class="schema-by">(<${Shown} text=${other} />)</span>
    `
  }</a>`;
}

/** @param {{bytes: string | null, decoded: Decoded | undefined}} props */
export function InLine({ bytes, decoded }) {
  if (bytes === null) return html`<span class="faint">null</span>`;
  if (!decoded) return html`<span class="faint">…</span>`;
  const plain = plainOf(bytes, decoded);
  if (plain) {
    return html`<${Shown} text=${plain.kind === "JSON" ? plain.text : JSON.stringify(plain.text)} />`;
  }
  if (decoded.error !== undefined) {
    return html`
      <span class="bad-text"
        title=${hiddenWords(decoded)}>✕ not decoded: <${Shown} text=${decoded
          .error} /></span>
    `;
  }
  if (decoded.preview !== undefined) {
    return html`<${Shown} text=${decoded.preview.slice(0, PREVIEW) + "…"} />`;
  }
  return html`<${OneLine} value=${decoded.value} />`;
}
