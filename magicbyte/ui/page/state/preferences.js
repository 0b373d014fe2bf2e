/** Preferences that outlive the tab: theme, clock, pins. Secrets are never stored. */
import { effect, signal } from "../vendor/ui.js";

/**
 * A signal whose value is kept in localStorage.
 * @template T
 * @param {string} name
 * @param {T} initial
 * @returns {import("../vendor/ui.js").Signal<T>}
 */
export function stored(name, initial) {
  const value = signal(read(name, initial));
  let first = true;
  effect(() => {
    const text = typeof value.value === "string" ? value.value : JSON.stringify(value.value);
    if (first) {
      first = false;
      return;
    }
    try {
      localStorage.setItem("magicbyte." + name, text);
    } catch { /* storage is off or full: the choice holds for this tab */ }
  });
  return value;
}

/**
 * @template T
 * @param {string} name
 * @param {T} initial
 * @returns {T}
 */
function read(name, initial) {
  try {
    const text = localStorage.getItem("magicbyte." + name);
    if (text === null) return initial;
    return typeof initial === "string" ? /** @type {any} */ (text) : JSON.parse(text);
  } catch {
    return initial;
  }
}
