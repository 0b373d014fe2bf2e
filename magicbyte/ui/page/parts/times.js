/** Times relative to now with the absolute time in the title; ids. */
import { stored } from "../state/stored.js";
import { html } from "../vendor/ui.js";

/** `local` or `utc`. */
export const clock = stored("clock", "local");

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * A time in few words: `now`, `2 min`, `1 h`, `yesterday`, `3 days`, `12 Nov`, `12 Nov 2024`.
 * @param {number} ms
 * @param {number} [now]
 */
export function ago(ms, now = Date.now()) {
  const passed = now - ms;
  if (passed < MINUTE) return "now";
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)} min`;
  if (passed < DAY) return `${Math.floor(passed / HOUR)} h`;
  if (passed < 2 * DAY) return "yesterday";
  if (passed < 7 * DAY) return `${Math.floor(passed / DAY)} days`;
  const sameYear = new Date(ms).getUTCFullYear() === new Date(now).getUTCFullYear();
  return new Date(ms).toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    year: sameYear ? undefined : "numeric",
    timeZone: clock.value === "utc" ? "UTC" : undefined,
  });
}

/** The absolute time, to the second, in the chosen clock. @param {number} ms */
export function absolute(ms) {
  const text = new Date(ms).toLocaleString("en-GB", {
    dateStyle: "medium",
    timeStyle: "medium",
    timeZone: clock.value === "utc" ? "UTC" : undefined,
  });
  return clock.value === "utc" ? text + " UTC" : text;
}

/** @param {{ms: number | null | undefined, full?: boolean}} props `full`: the absolute time is shown */
export function Time({ ms, full = false }) {
  if (!ms || !Number.isFinite(ms)) return html`<span class="faint">unknown</span>`;
  return html`<time class="num" datetime=${new Date(ms).toISOString()} title=${absolute(ms)}>${
    full ? absolute(ms) : ago(ms)
  }</time>`;
}

/** A schema id, never grouped, as a link to where it is used. @param {{id: number | string, href?: string}} props */
export const Id = ({ id, href }) =>
  href ? html`<a class="mono num link" href=${href}>id ${id}</a>` : html`<span class="mono num">id ${id}</span>`;
