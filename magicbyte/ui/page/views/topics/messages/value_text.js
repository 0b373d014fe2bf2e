/** A decoded value: pretty JSON with numbers as they were written, or one line of it. */
import { printJson } from "../../../api/json.js";
import { CodeText } from "../../../parts/code_text.js";
import { Shown } from "../../../parts/hostile.js";
import { Lines, segmentsOf } from "../../../text/positions.js";
import { asStored, pretty } from "../../../text/pretty.js";
import { counted } from "../../../text/counted.js";
import { html, useMemo, useState } from "../../../vendor/ui.js";
import { Segments } from "../../code/segments.js";

/** The characters of a value in a line. */
export const PREVIEW = 400;
const STEP = 2000;

/** Pretty JSON; long texts in parts. @param {{text: string, label: string}} props */
export function ValueText({ text, label }) {
  const [most, setMost] = useState(STEP);
  const laidOut = useMemo(() => {
    const layout = pretty(asStored(text, "JSON"));
    return { layout, lines: new Lines(layout.text) };
  }, [text]);
  const { layout, lines } = laidOut;
  const shown = Array.from({ length: Math.min(lines.count, most) }, (_, i) => ({
    tokens: [html`<${Segments} segments=${segmentsOf(layout, lines, i + 1)} />`],
  }));
  return html`<${CodeText} lines=${shown} anchor="" label=${label} />
    ${
    lines.count > most && html`<p class="more"><button type="button" class="btn small" onClick=${() =>
      setMost(most + STEP)}>
      Show more of ${counted(lines.count, "line")}</button></p>`
  }`;
}

/** The JSON text of a decoded value. @param {any} value @param {number} [indent] */
export const textOf = (value, indent = 0) => printJson(value, indent);

/** The beginning of a value on one line. @param {{value: any}} props */
export function OneLine({ value }) {
  const text = useMemo(() => {
    const whole = spaced(textOf(value));
    return whole.length > PREVIEW ? whole.slice(0, PREVIEW) + "…" : whole;
  }, [value]);
  return html`<${Shown} text=${text} />`;
}

/** A space behind commas and colons that are not in strings. @param {string} text */
const spaced = (text) =>
  text.slice(0, PREVIEW * 2).replace(
    /"(?:[^"\\]|\\.)*"|[,:]/g,
    (token) => token === "," || token === ":" ? token + " " : token,
  );
