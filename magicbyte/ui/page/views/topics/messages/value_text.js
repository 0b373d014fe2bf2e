/** A decoded value: pretty JSON with numbers as written, or its beginning on one line. */
import { printJson } from "../../../api/json.js";
import { numberedUpTo } from "../../../parts/code_text.js";
import { Shown } from "../../../parts/hostile.js";
import { Failure, Loading } from "../../../parts/states.js";
import { counted } from "../../../text/counted.js";
import { Lines, segmentsOf } from "../../../text/positions.js";
import { html, useMemo, useRef } from "../../../vendor/ui.js";
import { useWholeCopy } from "../../code/copy_whole.js";
import { Segments } from "../../code/segments.js";
import { useLayouts } from "../../code/use_layouts.js";
import { VirtualList } from "../../code/virtual_list.js";

/** The most characters of a value on one line. */
export const PREVIEW = 400;

/** Pretty JSON; a worker lays out long values. @param {{text: string, label: string}} props */
export function ValueText({ text, label }) {
  const { layouts, error } = useLayouts(text, "JSON");
  if (error) return html`<${Failure} error=${error} />`;
  if (!layouts) return html`<${Loading} rows=${8} height=${20} />`;
  return html`<${ValueLines} layout=${layouts.laidOut} label=${label} />`;
}

/** @param {{layout: import("../../../text/pretty.js").Layout, label: string}} props */
function ValueLines({ layout, label }) {
  const lines = useMemo(() => new Lines(layout.text), [layout]);
  const numbers = useMemo(() => Array.from({ length: lines.count }, (_, index) => index + 1), [lines]);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useWholeCopy(box, lines);
  return html`
    <div class="code scroll" style=${numberedUpTo(lines.count)} tabindex="0" role="region" ref=${box}
      aria-label=${`${label}, ${counted(lines.count, "line")}`}>
      <div class="lines">
        <${VirtualList} items=${numbers} render=${(/** @type {number} */ line) =>
          html`
            <div class="l" key=${line}
              data-line=${line}><span aria-hidden="true">${line}</span><span></span><span class="t"
                  ><${Segments} segments=${segmentsOf(layout, lines, line)} />${"\n"}</span></div>
          `} />
      </div>
    </div>
  `;
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

/** Adds a space after commas and colons outside strings. @param {string} text */
const spaced = (text) =>
  text.slice(0, PREVIEW * 2).replace(
    /"(?:[^"\\]|\\.)*"|[,:]/g,
    (token) => token === "," || token === ":" ? token + " " : token,
  );
