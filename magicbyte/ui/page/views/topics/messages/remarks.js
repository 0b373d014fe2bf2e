/** Remarks on a decoded value: a note for each kind, most severe first. The remarks on defaults are folded. */
import { Note } from "../../../parts/cards.js";
import { Shown } from "../../../parts/hostile.js";
import { grouped } from "../../../text/grouped.js";
import { counted } from "../../../text/counted.js";
import { html } from "../../../vendor/ui.js";

/** @typedef {import("../../../api/serdes.js").Remark} Remark */
/** @typedef {import("../../../api/serdes.js").RemarkKind} RemarkKind */

/**
 * The kinds, most severe first, with the text of their notes.
 * @type {Record<RemarkKind, {tone: "bad" | "warn" | "info", who: string, what: string}>}
 */
const NOTES = {
  "violation": { tone: "bad", who: "Violates the schema", what: "The schema refuses this value." },
  "double-key": { tone: "warn", who: "Double keys", what: "Programs that read this value differ in what they see." },
  "unknown-field": { tone: "warn", who: "Not shown", what: "The message has fields that the schema does not know." },
  "skipped-field": { tone: "warn", who: "Not shown", what: "The message has fields that the reader's schema lacks." },
  "not-examined": { tone: "warn", who: "Not examined", what: "The value may differ from the schema or the message." },
  "default": { tone: "info", who: "Defaults", what: "The message has no values for these fields." },
};

/**
 * The remarks by kind, most severe first.
 * @param {Remark[]} remarks
 */
function byKind(remarks) {
  const kinds = /** @type {RemarkKind[]} */ (Object.keys(NOTES));
  return kinds.map((kind) => ({ kind, remarks: remarks.filter((remark) => remark.kind === kind) }))
    .filter((group) => group.remarks.length > 0);
}

/** @param {{remarks?: Remark[], leftOut?: number}} props */
export function Remarks({ remarks = [], leftOut = 0 }) {
  if (!remarks.length) return null;
  return html`<div class="remarks stack">
    ${byKind(remarks).map((group) => html`<${OneKind} key=${group.kind} ...${group} />`)}
    ${leftOut > 0 && html`<p class="dim s">${grouped(leftOut)} more remarks are not listed.</p>`}
  </div>`;
}

/** @param {{kind: RemarkKind, remarks: Remark[]}} props */
function OneKind({ kind, remarks }) {
  const { tone, who, what } = NOTES[kind];
  const list = html`<ul>${
    remarks.map(({ path, text }, i) =>
      html`<li key=${i}><span class="mono"><${Shown} text=${path} /></span>: <${Shown} text=${text} /></li>`
    )
  }</ul>`;
  const count = counted(remarks.length, "field");
  return html`<${Note} tone=${tone} who=${who}>${what}${
    kind === "default" ? html`<details><summary>${count}</summary>${list}</details>` : list
  }</${Note}>`;
}
