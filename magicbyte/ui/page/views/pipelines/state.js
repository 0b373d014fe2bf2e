/** The state of a pipeline, and the age of the page's data. */
import { Badge, VerdictBadge } from "../../parts/badges.js";
import { Button } from "../../parts/buttons.js";
import { Shown } from "../../parts/hostile.js";
import { html } from "../../vendor/ui.js";
import { ageOf, isOld } from "./ages.js";

/** @typedef {import("../../api/pipelines.js").Pipeline} Pipeline */
/** @typedef {import("../../api/pipelines.js").Pipelines} Pipelines */

/** @param {{pipeline: Pipeline}} props */
export function StateBadge({ pipeline: { state, health } }) {
  if (state === "unreachable") return html`<${Badge} tone="warn">not reachable</${Badge}>`;
  if (state === "marker") return html`<${Badge} tone="line">only markers</${Badge}>`;
  const status = health?.status ?? "";
  if (state === "unhealthy") return html`<${VerdictBadge} ok=${false} text=${status} />`;
  return status === "ended"
    ? html`<${Badge} tone="line">ended</${Badge}>`
    : html`<${VerdictBadge} ok text=${status} />`;
}

/** Why a pipeline is not healthy, in one line. @param {{pipeline: Pipeline}} props */
export const Reason = ({ pipeline: { reason } }) =>
  reason && html`<span class="pipeline-reason anywhere"><${Shown} text=${reason} /></span>`;

/**
 * The age of a pipeline's figures if they are old; else nothing.
 * @param {{pipeline: Pipeline, now: number}} props
 */
export const FiguresAge = ({ pipeline: { figures, figuresAt }, now }) =>
  figures && figuresAt && isOld(figuresAt, now)
    ? html`<${Badge} tone="warn">figures of ${ageOf(figuresAt, now)}</${Badge}>`
    : null;

/** The time of the page's last request. @param {{data: Pipelines, now: number}} props */
export const AskedAge = ({ data, now }) =>
  isOld(data.now, now)
    ? html`<span data-asked><${Badge} tone="warn">old: asked ${ageOf(data.now, now)}</${Badge}></span>`
    : html`<span class="faint s num" data-asked>asked ${ageOf(data.now, now)}</span>`;

/**
 * The strip that is shown while the page's server does not answer.
 * @param {{request: import("../../parts/use_request.js").RequestState<Pipelines>}} props
 */
export const LostStrip = ({ request: { data, error, loading, reload } }) =>
  data && error && html`
    <div class="strip" role="status">
      <span class="anywhere">The pipelines cannot be asked: ${error.message} What is shown was asked before.</span>
      <span>${loading && "Asking again."}</span>
      <${Button} kind="small" onClick=${reload}>Ask now</${Button}>
      </div>
  `;
