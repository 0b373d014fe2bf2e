/** The sinks of a pipeline: the sinks that its metrics name, and the last batch of each Kafka sink by its marker. */
import { Card } from "../../parts/cards.js";
import { Badge } from "../../parts/badges.js";
import { Shown } from "../../parts/hostile.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { html } from "../../vendor/ui.js";
import { grouped } from "../../text/grouped.js";
import { Scrolled } from "../../parts/scrolled.js";
import { Age } from "./ages.js";
import { NoMarker } from "./markers.js";

/** Matches a topic's name, but not an expression. */
const TOPIC = /^[\w.-]{1,249}$/;

/**
 * @param {{pipeline: import("../../api/pipelines.js").Pipeline, now: number,
 *   markers: import("../../api/pipelines.js").Pipelines["markers"]}} props
 */
export function Sinks({ pipeline: { figures, sinks }, markers, now }) {
  const named = figures?.sinks;
  if (!named && sinks.length === 0) return null;
  return html`
    <${Card} title="Sinks" bare aside=${named && html`<span class="dim s anywhere"><${Shown} text=${named} /></span>`}>
      ${sinks.length === 0
        ? html`<p class="body dim s">${
          markers.state === "read" || markers.state === "missing"
            ? "No Kafka sink of it has written a marker."
            : html`Markers of Kafka sinks: <${NoMarker} markers=${markers} />`
        }</p>`
        : html`
          <${Scrolled} label="Sinks">
            <table>
              <thead>
                <tr>
                  <th scope="col">Kafka sink</th>
                  <th scope="col" class="r">Last batch</th>
                  <th scope="col">Written</th>
                  <th scope="col" class="r">Rows</th>
                  <th scope="col" class="r">Dead</th>
                </tr>
              </thead>
              <tbody>${sinks.map((sink) =>
                html`
                  <tr key=${`${sink.sink} ${sink.query}`}>
                    <td class="mono anywhere">${TOPIC.test(sink.sink)
                      ? html`<a class="link" href=${href(path`/topics/${sink.sink}`)}>${sink.sink}</a>`
                      : html`<${Shown} name text=${sink.sink} />`}</td>
                    <td class="r num">${grouped(sink.batch)} ${sink.behind > 0 &&
                      html`<${Badge} tone="warn">${sink.behind} of ${sink.writers} writers are behind</${Badge}>`}</td>
                    <td>
                      <${Age} ms=${sink.time} now=${now} />
                    </td>
                    <td class="r num">${grouped(sink.written)}</td>
                    <td class="r num">${grouped(sink.refused)}</td>
                  </tr>
                `
              )}</tbody>
            </table>
            </${Scrolled}>
        `}
      </${Card}>
  `;
}
