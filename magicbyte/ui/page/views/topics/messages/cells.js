/**
 * The parts of a message as cells, as in the product's logo: a cell for the magic byte, then id, message index and
 * payload.
 */
import { cells, dump, toHex } from "../../../text/bytes.js";
import { counted } from "../../../text/counted.js";
import { html, useState } from "../../../vendor/ui.js";

/** @type {Record<string, string>} */
const NAMES = { magic: "magic byte", id: "schema id", guid: "schema guid", index: "message index", payload: "payload" };
/** The most bytes of a payload that a cell shows, and the most rows of a dump at first. */
const SHOWN = 24;
const ROWS = 64;

/** @param {{bytes: Uint8Array, index?: string | null, framed?: boolean}} props */
export const Cells = ({ bytes, index = null, framed = true }) =>
  html`<dl class="cells">
    ${
    cells(bytes, { index, framed }).map(({ kind, from, to, words }) =>
      html`
        <div key=${kind} class=${"cell " + kind}>
          <dt>${NAMES[kind]}</dt>
          <dd class="mono">${toHex(bytes.subarray(from, Math.min(to, from + SHOWN)), " ")}${to - from > SHOWN
            ? " …"
            : ""}</dd>
          <dd class="xs dim num">${words}</dd>
        </div>
      `
    )
  }
  </dl>`;

/** A dump: offsets, bytes, characters. @param {{bytes: Uint8Array, index?: string | null, framed?: boolean}} props */
export function Dump({ bytes, index = null, framed = true }) {
  const [most, setMost] = useState(ROWS);
  const parts = cells(bytes, { index, framed });
  const kindAt = (/** @type {number} */ at) => parts.find(({ from, to }) => at >= from && at < to)?.kind ?? "";
  const rows = dump(bytes.subarray(0, most * 16));
  return html`<div class="dump mono" tabindex="0" role="region" aria-label="Bytes">
    ${
    rows.map(({ offset, bytes: row, text }, i) =>
      html`
        <div key=${offset}
          class="dump-row"><span class="faint">${offset}</span><span>${row.map((byte, j) =>
            html`<span key=${j} class=${kindAt(i * 16 + j)}>${byte} </span>`
          )}</span><span class="dim">${text}</span></div>
      `
    )
  }
    ${
    bytes.length > most * 16 && html`<button type="button" class="btn small" onClick=${() =>
      setMost(most * 8)}>Show more of ${counted(bytes.length, "byte")}</button>`
  }
  </div>`;
}
