/**
 * Toasts: short messages in a strip at the bottom, which never covers the page's end. A toast stays while it has the
 * focus or the pointer.
 */
import { html, signal, useEffect, useLayoutEffect, useRef } from "../vendor/ui.js";
import { Button } from "./buttons.js";
import { Shown } from "./hostile.js";
import { Icon } from "./icon.js";

/** @typedef {{label: string, onClick: () => void}} Action */
/** @type {import("../vendor/ui.js").Signal<{id: number, text: string, action?: Action, seconds: number}[]>} */
const shown = signal([]);
let last = 0;

/** The text for screen readers; `announce` sets it as well. */
export const announcement = signal("");

/**
 * Announces a text to screen readers, politely.
 * @param {string} text
 */
export function announce(text) {
  announcement.value = text;
}

/**
 * Shows a toast: 6 s, or 10 s with an action such as Undo.
 * @param {string} text
 * @param {{action?: Action, seconds?: number}} [options]
 * @returns {() => void} closes the toast
 */
export function toast(text, { action, seconds = action ? 10 : 6 } = {}) {
  const id = ++last;
  shown.value = [...shown.value.slice(-3), { id, text, action, seconds }];
  announce(text);
  return () => close(id);
}

/** @param {number} id */
function close(id) {
  shown.value = shown.value.filter((item) => item.id !== id);
}

export function Toasts() {
  const strip = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const { scrollHeight } = document.documentElement;
    const isAtEnd = scrollY + innerHeight >= scrollHeight - 1;
    document.documentElement.style.setProperty("--toasts", `${strip.current?.offsetHeight ?? 0}px`);
    if (shown.value.length === 0) return;
    // Keep the page's end or the focused element visible above the strip.
    if (isAtEnd) scrollTo(scrollX, document.documentElement.scrollHeight);
    else if (document.activeElement !== document.body) document.activeElement?.scrollIntoView({ block: "nearest" });
  }, [shown.value]);
  return html`
    <div class="toasts" ref=${strip}>${shown.value.map((item) => html`<${Toast} key=${item.id} item=${item} />`)}</div>
    <div class="hidden-text" role="status" aria-live="polite">${announcement.value}</div>
  `;
}

/** @param {{item: {id: number, text: string, action?: Action, seconds: number}}} props */
function Toast({ item }) {
  const timer = useRef(0);
  const start = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => close(item.id), item.seconds * 1000);
  };
  const stop = () => clearTimeout(timer.current);
  useEffect(() => {
    start();
    return stop;
  }, []);
  const act = () => {
    close(item.id);
    item.action?.onClick();
  };
  return html`<div class="toast" onMouseEnter=${stop} onMouseLeave=${start} onFocusIn=${stop} onFocusOut=${start}>
    <span class="grow"><${Shown} text=${item.text} /></span>
    ${item.action && html`<${Button} kind="small" onClick=${act}>${item.action.label}</${Button}>`}
    <${Button} kind="quiet small icon" label="Close" onClick=${() =>
    close(item.id)}><${Icon} name="cross" size=${11} /></${Button}>
  </div>`;
}
