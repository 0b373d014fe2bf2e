/** Searches a long text: the browser's own search finds only the lines that are in the document. */

import { Icon } from "../../parts/icon.js";
import { html, useEffect, useMemo, useRef, useState } from "../../vendor/ui.js";
import { grouped } from "../../text/grouped.js";
import { lastAtMost } from "../../text/positions.js";

/** @import { Lines } from "../../text/positions.js" */

/** The most places that a search finds. */
const MOST_FOUND = 10_000;
/** A search begins after this pause between keys, in ms. */
const PAUSE = 150;

/**
 * Finds places in a text, in UTF-16 units from its start; ignores case.
 * @typedef {{words: string, starts: number[], current: number}} FindState
 */

/**
 * @param {string} text
 * @param {string} words
 * @returns {number[]}
 */
export function placesOf(text, words) {
  /** @type {number[]} */
  const starts = [];
  if (!words) return starts;
  const pattern = new RegExp(words.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
  for (const match of text.matchAll(pattern)) {
    starts.push(match.index);
    if (starts.length === MOST_FOUND) break;
  }
  return starts;
}

/**
 * The search of a text and its state; null for a text whose lines are all in the document.
 * @param {Lines | null} lines
 * @param {string} words of the address
 */
export function useFind(lines, words) {
  const starts = useMemo(() => lines ? placesOf(lines.text, words) : [], [lines, words]);
  const [current, setCurrent] = useState(0);
  useEffect(() => setCurrent(0), [starts]);
  if (!lines) return null;
  return { words, starts, current: Math.min(current, Math.max(0, starts.length - 1)), setCurrent };
}

/** The line of a place, from 1. @param {Lines} lines @param {number} start */
export const lineOf = (lines, start) => lastAtMost(lines.starts, start) + 1;

/**
 * The matches in a line, as columns from 0.
 * @param {FindState} found
 * @param {Lines} lines
 * @param {number} line
 * @returns {[number, number][]}
 */
export function marksOf({ words, starts }, lines, line) {
  const [from, to] = [lines.starts[line - 1], lines.lineEnd(line)];
  /** @type {[number, number][]} */
  const marks = [];
  for (let at = lastAtMost(starts, from - 1) + 1; at < starts.length && starts[at] < to; at += 1) {
    marks.push([starts[at] - from, Math.min(starts[at] + words.length, to) - from]);
  }
  return marks;
}

/**
 * @param {{found: FindState & {setCurrent: (current: number) => void}, search: (words: string) => void}} props `search` puts
 *   the words into the address
 */
export function FindBox({ found, search }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [typed, setTyped] = useState(found.words);
  useEffect(() => {
    if (typed === found.words) return;
    const timer = setTimeout(() => search(typed), PAUSE);
    return () => clearTimeout(timer);
  }, [typed]);
  useEffect(() => {
    const stop = new AbortController();
    addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key !== "f") return;
      // A second Ctrl-F opens the browser's own search.
      if (document.activeElement === input.current) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    }, { signal: stop.signal });
    return () => stop.abort();
  }, []);
  const { starts, current, setCurrent } = found;
  const walk = (/** @type {number} */ step) =>
    starts.length && setCurrent((current + step + starts.length) % starts.length);
  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    if (event.key === "Escape" && typed) {
      event.stopPropagation();
      setTyped("");
      search("");
    }
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (typed === found.words) walk(event.shiftKey ? -1 : 1);
    else search(typed);
  };
  const more = starts.length === MOST_FOUND ? " or more" : "";
  const count = !found.words
    ? ""
    : starts.length === 0
    ? "none"
    : `${grouped(current + 1)} of ${grouped(starts.length)}${more}`;
  return html`
    <search class="find-box row no-print">
      <input ref=${input} class="input" type="search" aria-label="Find in the text" placeholder="Find in the text"
        value=${typed}
        autocomplete="off" spellcheck=${false} title="Ctrl-F; press it twice for the browser's own search"
        onInput=${(
          /** @type {any} */ event,
        ) => setTyped(event.currentTarget.value)} onKeyDown=${onKey} />
      <span class="s dim num" role="status">${count}</span>
      <button type="button" class="btn small icon quiet" aria-label="Previous place" disabled=${starts.length < 2}
        onClick=${() => walk(-1)}><${Icon} name="up" size=${12} /></button>
      <button type="button" class="btn small icon quiet" aria-label="Next place" disabled=${starts.length < 2}
        onClick=${() => walk(1)}><${Icon} name="down" size=${12} /></button>
    </search>
  `;
}
