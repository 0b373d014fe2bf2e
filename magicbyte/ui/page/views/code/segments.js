/** The coloured pieces of a line of code, as text nodes; characters that hide or turn text are shown as marks. */

import { Shown } from "../../parts/hostile.js";
import { html } from "../../vendor/ui.js";

/** @import { Segment } from "../../text/positions.js" */

const CLASSES = {
  key: "k",
  string: "st",
  number: "nu",
  keyword: "kw",
  punctuation: "p",
  comment: "p",
  name: "",
  other: "",
  space: "",
};

/** @param {{segments: Segment[]}} props */
export function Segments({ segments }) {
  return segments.map(({ kind, text, marked }) => {
    const name = CLASSES[kind];
    const shown = kind === "space" || kind === "punctuation" ? text : html`<${Shown} text=${text} />`;
    if (marked) return html`<mark class=${name}>${shown}</mark>`;
    return name ? html`<span class=${name}>${shown}</span>` : shown;
  });
}
