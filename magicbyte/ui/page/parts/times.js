/** Renders times (relative to now, with the absolute time in the title) and ids. */
import { stored } from "../state/preferences.js";
import { GAPS } from "../text/phrases.js";
import { html } from "../vendor/ui.js";

/** `local` or `utc`. */
export const clock = stored("clock", "local");

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

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
  const date = new Date(ms);
  const sameYear = date.getUTCFullYear() === new Date(now).getUTCFullYear();
  return sameYear ? dayOf(date) : `${dayOf(date)} ${partsOf(date).year}`;
}

/** Whether a number of milliseconds is a valid time. @param {number} ms */
export const isTime = (ms) => Number.isFinite(new Date(ms).getTime());

/** The time of day, to the millisecond, in the chosen clock. @param {number} ms */
export const timeOfDay = (ms) => partsOf(new Date(ms)).time;

/** The absolute time, to the second, in the chosen clock. @param {number} ms */
export function absolute(ms) {
  const date = new Date(ms);
  const { year, time } = partsOf(date);
  const text = `${dayOf(date)} ${year}, ${time.slice(0, 8)}`;
  return clock.value === "utc" ? text + " UTC" : text;
}

/** @param {Date} date */
function dayOf(date) {
  const { day, month } = partsOf(date);
  return `${day} ${MONTHS[month]}`;
}

/**
 * A time in the chosen clock. Avoids Intl: creating a formatter takes longer than a screen of rows.
 * @param {Date} date
 */
function partsOf(date) {
  const shown = clock.value === "utc" ? date : new Date(date.getTime() - date.getTimezoneOffset() * MINUTE);
  return {
    year: shown.getUTCFullYear(),
    month: shown.getUTCMonth(),
    day: shown.getUTCDate(),
    time: shown.toISOString().slice(11, 23),
  };
}

/** @param {{ms: number | null | undefined, full?: boolean}} props `full`: show the absolute time */
export function Time({ ms, full = false }) {
  if (!ms || !isTime(ms)) return html`<span class="faint">${GAPS.unknown}</span>`;
  return html`<time class="num" datetime=${new Date(ms).toISOString()} title=${absolute(ms)}>${
    full ? absolute(ms) : ago(ms)
  }</time>`;
}

/** A schema id without digit groups, as a link to its uses. @param {{id: number | string, href?: string}} props */
export const Id = ({ id, href }) =>
  href ? html`<a class="mono num link" href=${href}>id ${id}</a>` : html`<span class="mono num">id ${id}</span>`;
