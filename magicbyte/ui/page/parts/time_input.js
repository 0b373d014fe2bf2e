/** An input for a time, in the browser's time zone. */
import { html } from "../vendor/ui.js";

const MINUTE = 60_000;

/** @param {{label: string, at?: number, onTime: (time: string | null) => void}} props `at`: in ms since the epoch */
export function TimeInput({ label, at, onTime }) {
  const local = at === undefined ? null : new Date(at - new Date(at).getTimezoneOffset() * MINUTE);
  const change = (/** @type {any} */ event) => {
    const chosen = new Date(event.currentTarget.value);
    onTime(Number.isFinite(chosen.getTime()) ? chosen.toISOString() : null);
  };
  return html`<label class="row s dim at-time"><span>${label}</span>
    <input class="input num" type="datetime-local" step="1" value=${local?.toISOString().slice(0, 19) ?? ""}
      onChange=${change} /></label>`;
}
