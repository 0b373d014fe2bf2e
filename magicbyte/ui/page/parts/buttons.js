/** Buttons, links that look like them, chips and segmented controls. */
import { html, useId } from "../vendor/ui.js";
import { grouped } from "../text/grouped.js";

/**
 * A button. If it is disabled with a reason, it can still be focused and shows the reason.
 * @param {{kind?: string, disabled?: boolean, reason?: string, onClick?: (event: Event) => void, children?: any,
 *   label?: string, type?: string, [attribute: string]: any}} props `kind`: primary, danger, quiet, small, icon
 */
export function Button(
  { kind = "", disabled = false, reason = "", onClick, children, label, type = "button", ...rest },
) {
  const id = useId();
  const off = disabled || Boolean(reason);
  const button = html`
    <button
      type=${type}
      class="btn ${kind}"
      aria-label=${label}
      aria-disabled=${off ? "true" : undefined}
      aria-describedby=${reason ? id : undefined}
      ...${rest}
      onClick=${(/** @type {Event} */ event) => off ? event.preventDefault() : onClick?.(event)}
    >${children}</button>
  `;
  if (!reason) return button;
  return html`<span class="reasoned">${button}<span class="reason" role="tooltip" id=${id}>${reason}</span></span>`;
}

/** A link that looks like a button; with a reason it is a disabled button. @param {any} props */
export function LinkButton({ href, kind = "", reason = "", children, ...rest }) {
  if (reason) return html`<${Button} kind=${kind} reason=${reason} ...${rest}>${children}</${Button}>`;
  return html`<a class="btn ${kind}" href=${href} ...${rest}>${children}</a>`;
}

/**
 * @param {{pressed: boolean, count?: number | null, late?: boolean, onClick: () => void, children?: any,
 *   [attribute: string]: any}} props `late`: the count arrives later, but its space is reserved
 */
export const Chip = ({ pressed, count = null, late = false, onClick, children, ...rest }) =>
  html`<button type="button" class="chip" aria-pressed=${String(Boolean(pressed))} onClick=${onClick} ...${rest}>
    ${children}${
    (late || count !== null) && html`
      <b class=${late ? "num late" : "num"}>${count === null ? "" : grouped(count)}</b>
    `
  }
  </button>`;

/**
 * A segmented control for a few choices.
 * @param {{options: (string | [string, any])[], value: string, onChange: (value: string) => void, label: string}} props
 *   an option is a value, or a value and its label
 */
export function Segmented({ options, value, onChange, label }) {
  return html`<div class="seg" role="group" aria-label=${label}>
    ${
    options.map((option) => {
      const [name, words] = Array.isArray(option) ? option : [option, option];
      const press = () => onChange(name);
      return html`<button type="button" key=${name} aria-pressed=${
        String(name === value)
      } onClick=${press}>${words}</button>`;
    })
  }
  </div>`;
}
