/** The headers of a record to produce: names and texts. */
import { Button } from "../../../parts/buttons.js";
import { Card } from "../../../parts/cards.js";
import { Icon } from "../../../parts/icon.js";
import { fromBase64, plainText, toBase64 } from "../../../text/bytes.js";
import { html } from "../../../vendor/ui.js";

/** @typedef {import("../../../api/rest.js").Header} Header */

/** The headers that have a name. @param {Header[]} headers */
export const headersOf = (headers) => headers.filter(({ name }) => name !== "");

/** @param {string | null} value base64 */
const textOfHeader = (value) => value === null ? "" : plainText(fromBase64(value))?.text ?? value;

/** @param {{headers: Header[], onChange: (headers: Header[]) => void}} props */
export function HeaderInputs({ headers, onChange }) {
  const put = (/** @type {number} */ at, /** @type {Partial<Header>} */ change) =>
    onChange(headers.map((header, i) => i === at ? { ...header, ...change } : header));
  const add = html`<${Button} kind="quiet small" onClick=${() =>
    onChange([...headers, { name: "", value: "" }])}><${Icon} name="plus" size=${12} />Header</${Button}>`;
  return html`<${Card} title="Headers" aside=${add}>
    ${
    headers.length === 0
      ? html`<p class="dim s">None.</p>`
      : html`<ul class="stack header-inputs">${
        headers.map(({ name, value }, i) =>
          html`
            <li key=${i} class="row">
              <input class="input mono" aria-label=${`Name of header ${
                i + 1
              }`} placeholder="name" value=${name} onInput=${(/** @type {any} */ event) =>
                put(i, { name: event.currentTarget.value })} />
              <input class="input mono" aria-label=${`Value of header ${
                i + 1
              }`} placeholder="value" value=${textOfHeader(value)}
                onInput=${(/** @type {any} */ event) =>
                  put(i, { value: toBase64(new TextEncoder().encode(event.currentTarget.value)) })} />
              <${Button} kind="quiet small icon" label=${`Remove header ${i + 1}`} onClick=${() =>
                onChange(headers.filter((_, j) => j !== i))}>
                <${Icon} name="cross" size=${11} />
                </${Button}>
                </li>
          `
        )
      }</ul>`
  }
  </${Card}>`;
}
