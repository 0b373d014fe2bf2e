/** A pipeline: its state, inputs, sinks, rows, stateful steps, last batches, and commands to copy. */
import { pipelinesRequest } from "../../api/pipelines.js";
import { Card } from "../../parts/cards.js";
import { CurlButton, Snippet } from "../../parts/copying.js";
import { Shown } from "../../parts/hostile.js";
import { Empty, Loaded } from "../../parts/states.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { html } from "../../vendor/ui.js";
import { grouped } from "../../text/grouped.js";
import { Crumb } from "../subject/subject_head.js";
import { Age, useNow } from "./ages.js";
import { Batches } from "./batches.js";
import { Inputs } from "./inputs.js";
import { MarkersNote } from "./markers.js";
import { DeadLetterCount, Watermark } from "./pipeline_list.js";
import { Sinks } from "./sinks.js";
import { AskedAge, FiguresAge, LostStrip, Reason, StateBadge } from "./state.js";
import { Steps } from "./steps.js";
import { usePipelines } from "./use_pipelines.js";

/** @typedef {import("../../api/pipelines.js").Pipeline} Pipeline */
/** @typedef {import("../../api/pipelines.js").Pipelines} Pipelines */

/** @param {import("../../state/types.d.ts").ViewProps} props */
export default function PipelinePage({ params: { name } }) {
  const request = usePipelines(name);
  const { data } = request;
  const now = useNow(data?.skew ?? 0);
  const pipeline = data?.pipelines[0];
  return html`
    <header class="head tabless">
      <${Crumb} items=${[["Pipelines", href("/pipelines")], [name]]} />
      <div class="head-row">
        <div class="head-name">
          <h1 tabindex="-1"><${Shown} name text=${name} /></h1>
          ${pipeline && html`
            <${StateBadge} pipeline=${pipeline} />
            <${FiguresAge} pipeline=${pipeline} now=${now} />
          `}
        </div>
        <div class="head-actions">
          ${data && html`<${AskedAge} data=${data} now=${now} />`}
          <${CurlButton} request=${pipelinesRequest(name)} />
        </div>
      </div>
    </header>
    <${LostStrip} request=${request} />
    <div class="page pipeline">
      <${Loaded} request=${request} rows=${8}>${(/** @type {Pipelines} */ { pipelines, markers }) =>
        html`
          <${MarkersNote} markers=${markers} />
          ${pipelines.length === 0 && html`<${UnknownPipeline} />`}
          ${pipelines.map((/** @type {Pipeline} */ found) =>
            html`<${Details} key=${found.address ?? ""} pipeline=${found} markers=${markers} now=${now} />`
          )}
        `}</${Loaded}>
    </div>
  `;
}

const UnknownPipeline = () =>
  html`
    <${Empty} title="No pipeline of this name is known" actions=${html`<a class="btn" href=${
      href("/pipelines")
    }>All pipelines</a>`}>
      <p>No metrics port answers for it, and no marker that you may read tells of it.</p>
      </${Empty}>
  `;

/** @param {{pipeline: Pipeline, markers: Pipelines["markers"], now: number}} props */
const Details = ({ pipeline, markers, now }) =>
  html`
    <div class="pipeline-cards">
      <${State} pipeline=${pipeline} now=${now} />
      <${Rows} pipeline=${pipeline} />
      <${LastChange} pipeline=${pipeline} now=${now} />
      <${Commands} pipeline=${pipeline} />
    </div>
    <${Inputs} pipeline=${pipeline} />
    <${Sinks} pipeline=${pipeline} markers=${markers} now=${now} />
    <${Steps} pipeline=${pipeline} />
    <${Batches} pipeline=${pipeline} />
  `;

/** @param {{facts: [string, any][], class?: string}} props facts without a value are left out */
const Facts = ({ facts, class: name = "" }) =>
  html`<dl class="facts ${name}">
    ${
    facts.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([title, value]) =>
      html`
        <dt>${title}</dt>
        <dd>${value}</dd>
      `
    )
  }
  </dl>`;

/** @param {{pipeline: Pipeline, now: number}} props */
function State({ pipeline, now }) {
  const { address, health, figures, reason } = pipeline;
  const seconds = (/** @type {number | null | undefined} */ number) =>
    number === null || number === undefined ? null : html`<span class="num">${rounded(number)} s</span>`;
  const time = (/** @type {number | null | undefined} */ ms) => ms ? html`<${Age} ms=${ms} now=${now} />` : null;
  /** @type {[string, any][]} */
  const facts = [
    ["Metrics port", address && html`<span class="mono">${address}</span>`],
    ["Problem", reason && html`<${Reason} pipeline=${pipeline} />`],
    ["Last progress", health && health.idleSeconds !== null && html`${seconds(health.idleSeconds)} before the answer`],
    ["Run began", time(figures?.beganAt)],
    ["Starts from a checkpoint", figures?.restarts === null ? null : figures?.restarts],
    ["Last batch", figures && figures.batch !== null && html`<span class="num">${grouped(figures.batch)}</span>`],
    ["Written", time(figures?.writtenAt)],
    ["It took", seconds(figures?.seconds)],
    ["Its newest record", time(figures?.eventTime)],
    ["Age of that record then", seconds(figures?.lagSeconds)],
    ["Watermark", figures && html`<${Watermark} ms=${figures.watermark} now=${now} />`],
    ["Late rows", figures?.late],
  ];
  return html`<${Card} title="State">${
    facts.some(([, value]) => value) ? html`<${Facts} facts=${facts.map(shown)} />` : ONLY_MARKERS
  }</${Card}>`;
}

const ONLY_MARKERS = "No metrics port of it is known. What its Kafka sinks wrote last is below.";

/**
 * Turns a fact's `false` into null, so that the fact is left out.
 * @param {[string, any]} fact
 * @returns {[string, any]}
 */
const shown = ([title, value]) => [title, value === false ? null : value];

/** @param {number} seconds */
const rounded = (seconds) => seconds < 10 ? Math.round(seconds * 10) / 10 : grouped(Math.round(seconds));

/** Labels of the rows' outcomes, in the order of `Input rows = output rows`. @type {[string, string][]} */
const OUTCOMES = [
  ["read", "Read"],
  ["made", "Made by steps"],
  ["written", "Written"],
  ["dead", "Dead letters"],
  ["dropped", "Dropped"],
  ["grouped", "Grouped"],
  ["late", "In the folder of late rows"],
  ["lost", "Lost before they were read"],
];

/** The rows since the start of the run, and the failed checks. @param {{pipeline: Pipeline}} props */
function Rows({ pipeline: { figures } }) {
  if (!figures || Object.keys(figures.rows).length === 0) return null;
  const { rows, failedChecks, unmatched, deadLetters } = figures;
  const topic = deadLetters &&
    html`<a class="link mono anywhere" href=${
      href(path`/dead-letters/${deadLetters}`)
    }><${Shown} name text=${deadLetters} /></a>`;
  /** @type {[string, any][]} */
  const facts = [
    ...OUTCOMES.filter(([name]) => rows[name] !== undefined).map(([name, words]) => /** @type {[string, any]} */ ([
      words,
      name === "dead" ? html`<${DeadLetterCount} figures=${figures} />` : grouped(rows[name]),
    ])),
    ...Object.entries(failedChecks).map((
      [check, count],
    ) => /** @type {[string, any]} */ ([html`Failed: <${Shown} text=${check} />`, grouped(count)])),
    ...Object.entries(unmatched).map((
      [step, count],
    ) => /** @type {[string, any]} */ ([html`Without a match: <${Shown} text=${step} />`, grouped(count)])),
  ];
  return html`
    <${Card} title="Rows since the run began" footer=${topic && html`Dead letters are in ${topic}`}>
      <${Facts} facts=${facts} class="counts" />
      </${Card}>
  `;
}

/** @param {{pipeline: Pipeline, now: number}} props */
function LastChange({ pipeline: { change }, now }) {
  if (!change) return null;
  return html`
    <${Card} title="Last change" aside=${html`<span class="faint s">
      <${Age} ms=${change.time} now=${now} />, batch ${grouped(change.batch)}</span>`}>
      <ul class="pipeline-change">
        ${Object.entries(change.schemas).map(([id, version]) =>
          html`<li key=${id}>reads <a class="link mono" href=${href(path`/schemas/ids/${id}`)}>id ${id}</a>${
            version === null ? "" : ` (version ${version})`
          }</li>`
        )}
        ${change.statements.map((text, at) =>
          html`
            <li key=${`s${at}`} class="mono anywhere">
              <${Shown} text=${text} />
            </li>
          `
        )}
      </ul>
      </${Card}>
  `;
}

/** @param {{pipeline: Pipeline}} props */
function Commands({ pipeline: { figures, address } }) {
  const file = figures?.file ?? "FILE.yaml";
  return html`
    <${Card} title="Commands" aside=${html`<span class="faint s">on the pipeline's machine</span>`}>
      <div class="pipeline-commands">
        <${Snippet} text=${`magicbyte pipeline status ${quoted(file)}`} />
        ${address && html`<${Snippet} text=${`curl ${quoted(`${address}/health`)}`} />`}
      </div>
      </${Card}>
  `;
}

/** Quotes a word of a shell command. @param {string} text */
const quoted = (text) => /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
