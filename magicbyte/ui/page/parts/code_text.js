/** Code as plain lines, without an editor: the browser's search, print, anchors and screen readers work. */
import { html } from "../vendor/ui.js";

/**
 * @typedef {{kind: string, text: string}} Token `kind` is a class of styles/parts/code.css: k, st, nu, kw, p or empty
 * @typedef {{number?: number | string, tokens: (Token | any)[], sign?: any, tone?: string, after?: any, id?: string}} Line
 *   `after`: content below the line, such as notes
 */

/** The style that makes the column of numbers wide enough. @param {number} lines the number of lines */
export const numberedUpTo = (lines) => ({ "--digits": String(lines).length });

/**
 * @param {{lines: Line[], anchor?: string, selected?: [number, number] | null, href?: (line: number | string) => string,
 *   wrapped?: boolean, label?: string}} props `anchor`: the prefix of the lines' ids, such as `L`; empty for none
 */
export function CodeText({ lines, anchor = "L", selected = null, href, wrapped = false, label = "Text" }) {
  const shown = lines.map((line, i) =>
    html`
      <${CodeLine} key=${i} line=${line} number=${line.number ?? i + 1}
        anchor=${anchor} href=${href} on=${selected && i + 1 >= selected[0] && i + 1 <= selected[1]} />
    `
  );
  return html`
    <div class="code ${wrapped ? "wrapped" : "scroll"}" style=${numberedUpTo(
      lines.length,
    )} tabindex="0" role="region" aria-label=${label}>
      <div class="lines">${shown}</div>
    </div>
  `;
}

/** @param {{line: Line, number: number | string, anchor: string, href?: (line: number | string) => string, on?: any}} props */
function CodeLine({ line, number, anchor, href, on }) {
  const id = line.id ?? (anchor ? anchor + number : undefined);
  const name = href
    ? html`<a href=${href(number)} tabindex="-1" aria-label=${"Line " + number}>${number}</a>`
    : html`<span aria-hidden="true">${number}</span>`;
  const row = html`<div class="l ${line.tone ?? ""} ${on ? "on" : ""}" id=${id}>${name}<span>${line.sign}</span><span
    >${line.tokens.map(token)}${"\n"}</span></div>`;
  return line.after ? html`${row}${line.after}` : row;
}

/** @param {any} item @param {number} i */
const token = (item, i) =>
  item?.kind !== undefined && item.text !== undefined
    ? item.kind ? html`<span key=${i} class=${item.kind}>${item.text}</span>` : item.text
    : item;
