/** Notes on missing markers, and how to configure the pipelines' addresses. */
import { Snippet } from "../../parts/copying.js";
import { GapWords } from "../../parts/gap.js";
import { Shown } from "../../parts/hostile.js";
import { html } from "../../vendor/ui.js";
import { counted } from "../../text/counted.js";
import { MARKERS } from "../../state/pipelines_seen.js";

/** @typedef {import("../../api/pipelines.js").Pipelines} Pipelines */

const Topic = () => html`<span class="mono">${MARKERS}</span>`;

/** A note above the table about missing markers. @param {{markers: Pipelines["markers"]}} props */
export function MarkersNote({ markers: { state, reason, unreadable } }) {
  const sentence = {
    forbidden: html`You may not read the markers of Kafka sinks. That needs READ on the topic <${Topic} />.
      Pipelines that have only markers are not listed. <span class="faint"><${Shown} text=${reason} /></span>`,
    unavailable: html`The markers of Kafka sinks are not known: <${Shown} text=${reason} />`,
    partial: html`The markers of Kafka sinks are still being read: ${reason}.`,
    read: unreadable > 0 ? html`${counted(unreadable, "record")} of <${Topic} /> cannot be read as markers.` : null,
    missing: null,
    none: null,
  }[state];
  return sentence && html`<p class="markers-note s dim anywhere" data-markers=${state}>${sentence}</p>`;
}

/** The words in place of a missing marker. @param {{markers: Pipelines["markers"]}} props */
export function NoMarker({ markers: { state, reason } }) {
  if (state === "forbidden") return html`<${GapWords} fact=${{ gap: "forbidden", reason }} />`;
  if (state === "unavailable" || state === "partial") return html`<${GapWords} fact=${{ gap: "unknown", reason }} />`;
  return null;
}

/** How to configure the pipelines' addresses. */
export const HowToSet = () =>
  html`
    <div class="state">
      <h2>No pipelines are known</h2>
      <p>Run a pipeline with a port for its metrics:</p>
      <${Snippet} text="magicbyte pipeline run flights.yaml --metrics 127.0.0.1:9109" />
      <p>Tell the registry where the ports are, with commas between:</p>
      <${Snippet} text="magicbyte.ui.pipelines=http://127.0.0.1:9109" />
      <p>As an environment variable:</p>
      <${Snippet} text="SCHEMA_REGISTRY_MAGICBYTE_UI_PIPELINES=http://127.0.0.1:9109" />
      <p><span class="mono">magicbyte ui</span>, <span class="mono">magicbyte registry</span> and <span class="mono">magicbyte up</span> take <span class="mono">--pipelines</span>. Pipelines with a Kafka sink are also found by their markers, through the REST proxy.</p>
    </div>
  `;
