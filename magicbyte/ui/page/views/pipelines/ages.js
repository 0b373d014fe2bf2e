/** The age of figures; in seconds while they are fresh, and updated each second. */
import { absolute, ago, isTime } from "../../parts/times.js";
import { html, useEffect, useState } from "../../vendor/ui.js";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Older figures count as old: at least two answers are missing. */
const OLD_MS = 15 * SECOND;

/** The server's time, updated each second. @param {number} skew how far the browser's clock is behind, in ms */
export function useNow(skew) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), SECOND);
    return () => clearInterval(timer);
  }, []);
  return Date.now() + skew;
}

/** @param {number} ms @param {number} now */
export const isOld = (ms, now) => now - ms > OLD_MS;

/** An age such as `12 s ago`, `2 min ago`, `yesterday`, `12 Nov`. @param {number} ms @param {number} now */
export function ageOf(ms, now) {
  const passed = Math.max(0, now - ms);
  if (passed < MINUTE) return `${Math.floor(passed / SECOND)} s ago`;
  const words = ago(ms, now);
  return /(?:min|h|days)$/.test(words) ? `${words} ago` : words;
}

/** A time as an age, with the absolute time in the title. @param {{ms: number | null | undefined, now: number}} props */
export function Age({ ms, now }) {
  if (!ms || !isTime(ms)) return html`<span class="faint">unknown</span>`;
  return html`<time class="num" datetime=${new Date(ms).toISOString()} title=${absolute(ms)}>${ageOf(ms, now)}</time>`;
}
