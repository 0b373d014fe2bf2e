/** Selects and menus. */
import { html, useId, useRef } from "../vendor/ui.js";
import { Icon } from "./icon.js";

/**
 * A native select.
 * @param {{label: string, value: string, options: (string | [string, string])[], onChange: (value: string) => void,
 *   mono?: boolean, disabled?: boolean, [attribute: string]: any}} props
 */
export function Select({ label, value, options, onChange, mono = false, disabled = false, ...rest }) {
  return html`
    <span class="select ${mono ? "mono" : ""}">
      <select
        aria-label=${label}
        value=${value}
        disabled=${disabled}
        ...${rest}
        onChange=${(/** @type {any} */ event) => onChange(event.currentTarget.value)}
      >
          ${options.map((option) => {
            const [name, words] = Array.isArray(option) ? option : [option, option];
            return html`<option key=${name} value=${name} selected=${name === value}>${words}</option>`;
          })}
        </select>
      <${Icon} name="down" size=${12} />
    </span>
  `;
}

/**
 * A button that opens a list of actions and links.
 * @param {{label: any, name?: string, kind?: string, items: (null | "-" | MenuItem)[]}} props `name` is for screen
 *   readers if the label is a picture; "-" is a line between items
 * @typedef {{label: any, href?: string, onClick?: () => void, reason?: string, caption?: boolean, download?: string}} MenuItem
 */
export function Menu({ label, name, kind = "", items }) {
  const id = useId();
  const button = useRef(/** @type {HTMLElement | null} */ (null));
  const list = useRef(/** @type {any} */ (null));
  const place = (/** @type {any} */ event) => {
    if (event.newState !== "open" || !button.current) return;
    const menu = list.current;
    const at = button.current.getBoundingClientRect();
    const { width, height } = menu.getBoundingClientRect();
    menu.style.left = Math.max(8, Math.min(at.left, innerWidth - width - 8)) + "px";
    menu.style.top = (at.bottom + 6 + height > innerHeight ? Math.max(8, at.top - 6 - height) : at.bottom + 6) + "px";
    menu.querySelector("button, a")?.focus();
  };
  const walk = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [...list.current.querySelectorAll("button, a")];
    const at = all.indexOf(document.activeElement);
    all[(at + step + all.length) % all.length].focus();
  };
  const close = () => list.current.hidePopover();
  return html`
    <button type="button" class="btn ${kind}" ref=${button} popovertarget=${id} aria-label=${name}>
          ${label}${!kind.includes("icon") && html`<${Icon} name="down" size=${12} />`}
        </button>
    <div class="menu" id=${id} popover="auto" ref=${list} onToggle=${place} onKeyDown=${walk}>
          ${items.map((item, i) => item && html`<${Item} key=${i} item=${item} close=${close} />`)}
        </div>
  `;
}

/** @param {{item: "-" | MenuItem, close: () => void}} props */
function Item({ item, close }) {
  if (item === "-") return html`<hr />`;
  if (item.caption) return html`<p class="caption">${item.label}</p>`;
  if (item.href && !item.reason) {
    return html`<a href=${item.href} download=${item.download} onClick=${close}>${item.label}</a>`;
  }
  const act = () => {
    if (item.reason) return;
    close();
    item.onClick?.();
  };
  return html`
    <button type="button" aria-disabled=${item.reason ? "true" : undefined} onClick=${act}>
      <span>${item.label}${item.reason && html`<span class="why">${item.reason}</span>`}</span>
    </button>
  `;
}
