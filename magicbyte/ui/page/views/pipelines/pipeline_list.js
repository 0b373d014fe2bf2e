/** The pipelines: state, last batch, lag, late rows, dead letters, watermark and last change of each. */
import { pipelinesRequest } from "../../api/pipelines.js";
import { CurlButton } from "../../parts/copying.js";
import { Shown } from "../../parts/hostile.js";
import { Loaded } from "../../parts/states.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { html } from "../../vendor/ui.js";
import { grouped } from "../../text/grouped.js";
import { Age, useNow } from "./ages.js";
import { HowToSet, MarkersNote, NoMarker } from "./markers.js";
import { AskedAge, FiguresAge, LostStrip, Reason, StateBadge } from "./state.js";
import { usePipelines } from "./use_pipelines.js";

/** @typedef {import("../../api/pipelines.js").Pipeline} Pipeline */
/** @typedef {import("../../api/pipelines.js").Pipelines} Pipelines */

export default function PipelinesPage() {
  const request = usePipelines();
  const { data } = request;
  const now = useNow(data?.skew ?? 0);
  return html`
    <${LostStrip} request=${request} />
    <div class="page pipelines">
      <div class="page-head">
        <h1 tabindex="-1">Pipelines</h1>
        ${data && html`<span class="faint num">${grouped(data.pipelines.length + data.leftOut)}</span>`}
        <span class="grow"></span>
        ${data && html`<${AskedAge} data=${data} now=${now} />`}
        <${CurlButton} request=${pipelinesRequest()} />
      </div>
      <${Loaded} request=${request} rows=${6}>${(/** @type {Pipelines} */ found) =>
        html`
          <${MarkersNote} markers=${found.markers} />
          ${found.pipelines.length === 0 ? html`<${HowToSet} />` : html`<${Table} found=${found} now=${now} />`}
          ${found.leftOut > 0 &&
            html`<p class="dim s">${grouped(found.leftOut)} more pipelines are not listed.</p>`}
        `}</${Loaded}>
    </div>
  `;
}

/** @param {{found: Pipelines, now: number}} props */
const Table = ({ found: { pipelines, markers }, now }) =>
  html`
    <div class="table-scroll">
      <table class="pipeline-table">
        <thead>
          <tr>
            <th scope="col">Pipeline</th>
            <th scope="col">State</th>
            <th scope="col" class="r">Last batch</th>
            <th scope="col" class="r">Behind</th>
            <th scope="col" class="r">Late</th>
            <th scope="col" class="r">Dead</th>
            <th scope="col">Watermark</th>
            <th scope="col">Last change</th>
          </tr>
        </thead>
        <tbody>${pipelines.map((pipeline) =>
          html`<${Row} key=${`${pipeline.name} ${pipeline.address}`} pipeline=${pipeline} markers=${markers} now=${now} />`
        )}</tbody>
      </table>
    </div>
  `;

/** @param {{pipeline: Pipeline, markers: Pipelines["markers"], now: number}} props */
function Row({ pipeline, markers, now }) {
  const { name, address, figures, change } = pipeline;
  return html`
    <tr>
      <td class="anywhere">${name === null
        ? html`<span class="mono dim">${address}</span>`
        : html`<a class="name mono" href=${href(path`/pipelines/${name}`)}><${Shown} name text=${name} /></a>`}</td>
      <td data-name="State">
        <div class="pipeline-state">
          <${StateBadge} pipeline=${pipeline} />
          <${FiguresAge} pipeline=${pipeline} now=${now} />
        </div>
        <${Reason} pipeline=${pipeline} />
      </td>
      <td class="r" data-name="Last batch">
        <${LastBatch} pipeline=${pipeline} markers=${markers} now=${now} />
      </td>
      <td class="r num" data-name="Behind">${counted(figures?.lag)}</td>
      <td class="r num" data-name="Late">${counted(figures?.late)}</td>
      <td class="r num" data-name="Dead">
        <${DeadLetterCount} figures=${figures} />
      </td>
      <td data-name="Watermark">${figures && html`<${Watermark} ms=${figures.watermark} now=${now} />`}</td>
      <td data-name="Last change">${change
        ? html`<${Age} ms=${change.time} now=${now} />`
        : html`<${NoMarker} markers=${markers} />`}</td>
    </tr>
  `;
}

/** @param {{ms: number | null, now: number}} props */
export const Watermark = ({ ms, now }) =>
  ms === null ? html`<span class="faint">none</span>` : html`<${Age} ms=${ms} now=${now} />`;

/** A figure; empty if the port does not report it. @param {number | null | undefined} number */
const counted = (number) => number === null || number === undefined ? "" : grouped(number);

/** @param {{figures: import("../../api/pipelines.js").Figures | null}} props */
export function DeadLetterCount({ figures }) {
  const dead = figures?.rows.dead;
  if (dead === undefined) return null;
  const topic = figures?.deadLetters;
  return topic
    ? html`<a class="link" href=${href(path`/dead-letters/${topic}`)}>${grouped(dead)}</a>`
    : html`${grouped(dead)}`;
}

/** The last batch by the metrics, and by the marker of the newest Kafka sink. @param {any} props */
function LastBatch({ pipeline: { figures, sinks }, markers, now }) {
  const newest = [...sinks].sort((a, b) => (b.time ?? 0) - (a.time ?? 0))[0];
  return html`
    ${figures && figures.batch !== null &&
      html`<div class="num">${grouped(figures.batch)}, <${Age} ms=${figures.writtenAt} now=${now} /></div>`}
    ${newest
      ? html`<div class="num s dim">marker ${grouped(newest.batch)}, <${Age} ms=${newest.time} now=${now} /></div>`
      : !figures && html`<${NoMarker} markers=${markers} />`}
  `;
}
