/** Small line drawings in the text's colour; they decorate the word beside them. */
import { html } from "../vendor/ui.js";

/** @type {Record<string, string>} the `d` of a path in a box of 16 by 16 */
const PATHS = {
  search: "M11.6 7a4.6 4.6 0 1 1-9.2 0 4.6 4.6 0 0 1 9.2 0ZM10.6 10.6l3.2 3.2",
  check: "m3.2 8.6 3.2 3.2 6.4-7.2",
  cross: "m4 4 8 8m0-8-8 8",
  down: "m4 6.2 4 4 4-4",
  up: "M8 13V3.4M4.2 7 8 3.2 11.8 7",
  right: "M3 8h9.6M8.8 4.2 12.6 8l-3.8 3.8",
  left: "M13 8H3.4M7.2 4.2 3.4 8l3.8 3.8",
  chevron: "m6.2 4 4 4-4 4",
  swap: "M3 5.4h9.4M9.8 2.8l2.6 2.6-2.6 2.6M13 10.6H3.6m2.6 2.6-2.6-2.6L6.2 8",
  copy: "M5.6 5.6h7.2v7.2H5.6zM10.4 5.4V3.2H3.2v7.2h2.2",
  link:
    "M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.3-2.3a2.6 2.6 0 0 0-3.7-3.7l-.9.9m1 2.7a2.6 2.6 0 0 0-3.7 0L3.2 9.1a2.6 2.6 0 0 0 3.7 3.7l.9-.9",
  download: "M8 2.8v7.4M4.8 7.2 8 10.4l3.2-3.2M3 13.2h10",
  plus: "M8 3.2v9.6M3.2 8h9.6",
  minus: "M3.2 8h9.6",
  tilde: "M3 9.2c1.6-3.4 3.4-2.6 5-1.2s3.4 2.2 5-1.2",
  warn: "M8 2.6 14 13H2zM8 6.4v3.2m0 1.7v.1",
  more: "M3.4 8h.1m4.5 0h.1m4.5 0h.1",
  external: "M9.4 3H13v3.6M13 3 7.6 8.4M11.4 9.4V13H3V4.6h3.6",
  sun:
    "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM8 1.4v1.2m0 10.8v1.2M1.4 8h1.2m10.8 0h1.2M3.3 3.3l.9.9m7.6 7.6.9.9m0-9.4-.9.9m-7.6 7.6-.9.9",
  moon: "M12.9 9.7A5.4 5.4 0 0 1 6.3 3.1a5.4 5.4 0 1 0 6.6 6.6Z",
  pin: "M9.6 2.6 13.4 6.4l-2.5.9-2.6 2.6.1 2.7-5-5 2.7.1 2.6-2.6zM5.6 10.4 2.8 13.2",
  play: "M5 3.4 12 8l-7 4.6z",
  pause: "M5.4 3.4v9.2m5.2-9.2v9.2",
  clock: "M13.6 8A5.6 5.6 0 1 1 2.4 8a5.6 5.6 0 0 1 11.2 0ZM8 4.8V8l2.2 1.6",
  return: "M12.6 3.6v3.8a2 2 0 0 1-2 2H3.6m2.8-2.8L3.6 9.4l2.8 2.8",
};

/** @param {{name: string, size?: number, class?: string}} props */
export function Icon({ name, size = 14, class: more = "" }) {
  if (name === "half") {
    return html`
      <svg class="icon ${more}" width=${size} height=${size} viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="1.5" />
        <path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" />
      </svg>
    `;
  }
  const width = name === "check" || name === "cross" ? 2.1 : name === "more" ? 2.4 : 1.6;
  return html`
    <svg
      class="icon ${more}"
      width=${size}
      height=${size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width=${width}
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d=${PATHS[name]} />
    </svg>
  `;
}
