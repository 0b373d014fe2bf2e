/** The key or value of a letter: the bytes around the place where decoding stops, the writer's schema, and the data. */
import { TypeBadge } from "../../parts/badges.js";
import { Card, Note } from "../../parts/cards.js";
import { CodeText } from "../../parts/code_text.js";
import { Shown } from "../../parts/hostile.js";
import { Id } from "../../parts/times.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { dump, fromBase64 } from "../../text/bytes.js";
import { grouped } from "../../text/grouped.js";
import { html } from "../../vendor/ui.js";
import { textOf, ValueText } from "../topics/messages/value_text.js";
import { counted } from "../../text/counted.js";

const WIDTH = 16;

/** @param {{name: string, part: any, isMasked?: boolean}} props `part`: null for none */
export function LetterPart({ name, part, isMasked = false }) {
  const title = name === "key" ? "Key" : "Value";
  if (!part) {
    const words = isMasked ? "left out by the pipeline" : name === "key" ? "none" : "none: a tombstone";
    return html`
      <${Card} title=${title} aria-label=${title}>
        <p class="dim s">${words}</p>
        </${Card}>
    `;
  }
  const text = part.preview ?? (part.problem === null ? textOf(part.decoded, 2) : null);
  return html`
    <${Card} title=${title} aria-label=${title} aside=${html`<span class="dim s num">${
      counted(part.bytes, "byte")
    }</span>`}>
      <div class="stack">
        ${part.problem !== null && html`
          <${Note} who="Does not decode" rule=${placeOf(part)}>
            <${Shown} text=${part.problem} />
            </${Note}>
        `}
        <${SchemaLine} name=${name} part=${part} />
        <${Bytes} part=${part} label=${`Bytes of the ${name}`} />
        ${part.preview !== undefined &&
          html`<p class="dim s num">The beginning of ${counted(part.size, "byte")} of JSON:</p>`}
        ${text !== null &&
          (part.preview === undefined
            ? html`<${ValueText} text=${text} label=${`Decoded ${name}`} />`
            : html`<pre class="plain mono s"><${Shown} text=${text} /></pre>`)}
        ${part.schema && html`<${SchemaText} part=${part} label=${`Schema of the ${name}`} />`}
      </div>
      </${Card}>
  `;
}

/** The position where decoding stops: the field and the byte. @param {any} part */
function placeOf({ path: field, byte }) {
  if (field === null && byte === null) return null;
  return html`${field !== null && html`<span class="mono anywhere"><${Shown} text=${field} /></span>${" "}`}${
    byte !== null && html`<span class="num">byte ${byte}</span>`
  }`;
}

/** @param {{name: string, part: any}} props */
function SchemaLine({ part }) {
  if (part.schemaId === null) return html`<p class="dim s">No schema is named.</p>`;
  const isId = /^\d+$/.test(part.schemaId);
  const where = isId ? path`/schemas/ids/${part.schemaId}` : path`/schemas/guids/${part.schemaId}`;
  return html`
    <p class="row wrap s"><span class="dim">Written with</span>
      ${isId
        ? html`<${Id} id=${part.schemaId} href=${href(where)} />`
        : html`<a class="link mono anywhere" href=${href(where)}>${part.schemaId}</a>`}
      ${part.schemaType && html`<${TypeBadge} type=${part.schemaType} />`}
      ${part.subject &&
        html`<a class="link mono anywhere" href=${
          href(path`/subjects/${part.subject}/versions/${part.version}`)
        }><${Shown} name text=${part.subject} /> v${part.version}</a>`}
      ${!part.schema &&
        html`<span class="warn-text">which the registry does not have, or which you may not read</span>`}</p>
  `;
}

/** The bytes, with a mark on the byte where decoding stops. @param {{part: any, label: string}} props */
function Bytes({ part, label }) {
  const bytes = fromBase64(part.base64);
  const at = part.byte === null ? -1 : part.byte - part.first;
  const left = part.bytes - part.first - bytes.length;
  return html`
    <div class="dump mono letter-bytes" tabindex="0" role="region" aria-label=${label}>
      ${part.first > 0 && html`<p class="dim num">${grouped(part.first)} bytes before</p>`}
      ${dump(bytes, WIDTH).map(({ bytes: row, text }, i) =>
        html`
          <div key=${i}
            class="dump-row"><span class="faint">${(part.first + i * WIDTH).toString(16).padStart(
              4,
              "0",
            )}</span><span>${row.map((byte, j) =>
              i * WIDTH + j === at
                ? html`<mark key=${j} title="Decoding stops here">${byte}</mark>${" "}`
                : html`<span key=${j}>${byte} </span>`
            )}</span><span class="dim">${text}</span></div>
        `
      )}
      ${at === bytes.length && left === 0 && html`<p class="dim">decoding stops at the end</p>`}
      ${left > 0 && html`<p class="dim num">and ${grouped(left)} more bytes</p>`}
    </div>
  `;
}

/** @param {{part: any, label: string}} props */
const SchemaText = ({ part, label }) =>
  html`
    <details class="s"><summary class="dim">The writer's schema</summary>
      ${part.schemaType === "PROTOBUF"
        ? html`<${CodeText} lines=${
          part.schema.split("\n").map((/** @type {string} */ line) => ({ tokens: [html`<${Shown} text=${line} />`] }))
        } anchor="" label=${label} />`
        : html`<${ValueText} text=${part.schema} label=${label} />`}</details>
  `;
