/**
 * Keyboard shortcuts: each page has its own, and `?` lists them. They do not work in inputs; users can turn off single
 * keys.
 */
import { stored } from "../state/preferences.js";
import { signal, useLayoutEffect, useRef } from "../vendor/ui.js";

/** Whether single keys work (WCAG 2.1.4). */
export const singleKeys = stored("single-keys", true);

/**
 * @typedef {{keys: Record<string, (event: KeyboardEvent) => void>, words: Record<string, string>, scope: string}} Table
 * @type {import("../vendor/ui.js").Signal<Table[]>}
 */
export const tables = signal([]);

/** The scope of the keys that work on every page. */
export const EVERYWHERE = "Everywhere";

const SEQUENCE_MS = 1200;
let before = "";
let beforeAt = 0;

/**
 * Listens for keys while the component is shown. A key is `d`, `g s` (two keys in a row), `Ctrl-k` or `Escape`.
 * @param {Record<string, [string, (event: KeyboardEvent) => void] | ((event: KeyboardEvent) => void)>} keys the action
 *   of each key, with its words for the help if it is listed there
 * @param {{scope?: string}} [options] the heading in the help
 */
export function useKeys(keys, { scope = "This page" } = {}) {
  const newest = useRef(keys);
  newest.current = keys;
  const names = Object.keys(keys).join(" ");
  // Register before the paint, so that the keys work as soon as the rows are visible.
  useLayoutEffect(() => {
    const run = (/** @type {string} */ key) => (/** @type {KeyboardEvent} */ event) => {
      const entry = newest.current[key];
      (Array.isArray(entry) ? entry[1] : entry)?.(event);
    };
    const entries = Object.entries(newest.current);
    const table = {
      keys: Object.fromEntries(entries.map(([key]) => [key, run(key)])),
      words: Object.fromEntries(entries.flatMap(([key, entry]) => Array.isArray(entry) ? [[key, entry[0]]] : [])),
      scope,
    };
    // A page may render before the frame around it; sort, so that the frame's table stays first in the list.
    tables.value = [...tables.peek(), table].sort((one, other) => rank(one) - rank(other));
    return () => {
      tables.value = tables.peek().filter((other) => other !== table);
    };
  }, [names, scope]);
}

/** @param {Table} table */
const rank = ({ scope }) => scope === EVERYWHERE ? 0 : 1;

/** Starts listening; called once by app.js. */
export function listenForKeys() {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const held = event.ctrlKey || event.metaKey || event.altKey;
    if (isTyped(event) && !held && event.key !== "Escape") return;
    if (event.key === "Enter" && isControl(event)) return;
    if (document.querySelector("dialog[open]") && !held) return;
    const key = (event.ctrlKey || event.metaKey ? "Ctrl-" : event.altKey ? "Alt-" : "") + event.key;
    if (!held && key.length === 1 && !singleKeys.peek()) return;
    const sequence = Date.now() - beforeAt < SEQUENCE_MS ? `${before} ${key}` : "";
    before = key;
    beforeAt = Date.now();
    // Search the newest table first: a view's keys win over the keys of every page.
    const all = [...tables.peek()].reverse();
    for (const name of sequence ? [sequence, key] : [key]) {
      const table = all.find((candidate) => name in candidate.keys);
      if (!table) continue;
      if (name === sequence) before = "";
      event.preventDefault();
      table.keys[name](event);
      return;
    }
  });
}

/** Whether Enter activates the focused element. @param {KeyboardEvent} event */
const isControl = (event) =>
  Boolean(/** @type {HTMLElement} */ (event.composedPath()[0]).closest?.("a[href], button, summary"));

/** Whether a key types into a text field. @param {KeyboardEvent} event */
function isTyped(event) {
  const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName ?? "");
}
