/** The coloured segments of a line of code, as text nodes. Marks show characters that hide or reverse text. */

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

/**
 * @param {{segments: Segment[], links?: Map<string, string>}} props `links`: addresses by the text of a token, without
 *   its quotes
 */
export function Segments({ segments, links }) {
  return segments.map(({ kind, text, marked }) => {
    const name = CLASSES[kind];
    const shown = kind === "space" || kind === "punctuation" ? text : html`<${Shown} text=${text} />`;
    if (marked) return html`<mark class=${name}>${shown}</mark>`;
    const link = links?.get(kind === "string" ? text.slice(1, -1) : text);
    if (link) return html`<a class=${name + " ref"} href=${link}>${shown}</a>`;
    return name ? html`<span class=${name}>${shown}</span>` : shown;
  });
}
