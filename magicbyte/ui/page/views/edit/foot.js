/** The bar at the bottom: the state of the check, and the actions that leave the editor. */
import { html, useEffect, useState } from "../../vendor/ui.js";

/**
 * The age of a check: `0.1 s ago`, `12 s ago`, `3 min ago`.
 * @param {{at: number}} props
 */
export function Ago({ at }) {
  const [now, setNow] = useState(at);
  useEffect(() => {
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [at]);
  return html`${agoText(now - at)}`;
}

/** @param {number} ms */
export function agoText(ms) {
  if (ms < 1000) return "0.1 s ago";
  if (ms < 60_000) return `${Math.floor(ms / 1000)} s ago`;
  return `${Math.floor(ms / 60_000)} min ago`;
}

const ENDINGS = { AVRO: "avsc", JSON: "json", PROTOBUF: "proto" };

/**
 * Saves a text as a file.
 * @param {string} subject
 * @param {number} version
 * @param {import("./draft/drafts.js").Draft} draft
 */
export function saveAsFile(subject, version, { text, type }) {
  const name = `${subject || "schema"}-v${version}`.replace(/[^\w.-]+/g, "_");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = `${name}.${ENDINGS[type]}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
