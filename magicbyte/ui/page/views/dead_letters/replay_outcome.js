/** The outcomes of a replay or dry run: how many letters go to which topic, and which stay and why. */
import { Snippet } from "../../parts/copying.js";
import { Shown } from "../../parts/hostile.js";
import { Failure } from "../../parts/states.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { grouped } from "../../text/grouped.js";
import { html } from "../../vendor/ui.js";
import { counted } from "../../text/counted.js";
import { placeText } from "./letter_request.js";

/** @typedef {import("../../api/dead_letters.js").Outcome} Outcome */
/** @typedef {import("./use_replay.js").ReplayState} ReplayState */

/** The most remaining letters that are listed. */
const LISTED = 200;
/** Statuses of proxies that lack the route; their code is the status. */
const MISSING = new Set([404, 405]);

/** @param {{topic: string, replay: ReplayState, command: string}} props */
export function ReplayOutcome({ topic, replay, command }) {
  const { isDry, running, outcomes, rights, warnings, error, cancelled, total } = replay;
  if (error) return html`<${ReplayFailure} error=${error} isDry=${isDry} outcomes=${outcomes} command=${command} />`;
  if (running || (!outcomes.length && !cancelled && !replay.cluster)) return null;
  const sent = tally(outcomes.filter(({ outcome }) => outcome !== "stays"), ({ topic_name: name }) => name ?? "");
  const unsent = outcomes.filter(({ outcome }) => outcome === "stays");
  const reasons = tally(unsent, ({ reason }) => reason ?? "");
  return html`
    <div class="outcome stack" data-outcome=${isDry ? "dry" : "sent"} role="status">
      <p><b>${headOf(isDry, outcomes.length - unsent.length, total)}</b>${cancelled
        ? ` Cancelled after ${counted(outcomes.length, "letter")}; letters under way may still be sent.`
        : ""}</p>
      ${(sent.length > 0 || reasons.length > 0) && html`
        <ul class="s tallies">
          ${sent.map(([name, number]) =>
            html`
              <li key=${"to " + name}
                class="anywhere"><span class="num">${grouped(
                  number,
                )}</span> to <span class="mono"><${Shown} name text=${name} /></span></li>
            `
          )}
          ${reasons.map(([reason, number]) =>
            html`<li key=${reason} class="anywhere"><span class="num">${grouped(number)}</span> stay: ${reason}</li>`
          )}
        </ul>
      `}
      ${rights.length > 0 && html`
        <ul class="s bad-text missing-rights">${rights.map((right) =>
          html`
            <li key=${JSON.stringify(right)}
              class="anywhere">✕ ${right.operation} on ${right.resource_type.toLowerCase().replaceAll(
                "_",
                " ",
              )} <span class="mono"><${Shown} name text=${right.resource_name} /></span> is missing.</li>
          `
        )}</ul>
      `}
      ${warnings.map((text) => html`<p key=${text} class="s warn-text anywhere">! <${Shown} text=${text} />.</p>`)}
      ${unsent.length > 0 && html`<${UnsentLetters} topic=${topic} letters=${unsent} />`}
    </div>
  `;
}

/** @param {boolean} isDry @param {number} sent @param {number} total */
function headOf(isDry, sent, total) {
  if (!total) return "No letter is meant: all of the filter were replayed, or none fits.";
  return isDry ? `${counted(sent, "letter")} would be sent.` : `${counted(sent, "letter")} sent.`;
}

/** @param {{topic: string, letters: Outcome[]}} props */
const UnsentLetters = ({ topic, letters }) =>
  html`
    <details open=${letters.length <= 20}>
      <summary class="s dim num">${counted(letters.length, "letter")} that stay${letters.length === 1
        ? "s"
        : ""}</summary>
      <ul class="stays s">${letters.slice(0, LISTED).map(({ partition_id: partition, offset, reason, detail }) =>
        html`
          <li
            key=${`${partition}:${offset}`}><a class="link mono num" href=${href(
              path`/dead-letters/${topic}/${partition}/${offset}`,
            )}>${placeText({
              partition,
              offset,
            })}</a> <span class="anywhere"><b>${reason}</b>: <${Shown} text=${detail} /></span></li>
        `
      )}</ul>
      ${letters.length > LISTED && html`<p class="dim s num">and ${grouped(letters.length - LISTED)} more</p>`}
    </details>
  `;

/** @param {{error: any, isDry: boolean, outcomes: Outcome[], command: string}} props */
function ReplayFailure({ error, isDry, outcomes, command }) {
  if (MISSING.has(error.status) && (error.code ?? 0) <= 599) {
    return html`
      <div class="s stack" role="alert">
        <p>This REST proxy cannot replay letters. The command can:</p>
        <${Snippet} text=${command} />
      </div>
    `;
  }
  const sent = outcomes.filter(({ outcome }) => outcome === "sent").length;
  return html`<${Failure} error=${error} />
    ${!isDry && html`<p class="s num" role="status">${counted(sent, "letter")} sent before.</p>`}`;
}

/**
 * @param {Outcome[]} outcomes
 * @param {(outcome: Outcome) => string} nameOf
 * @returns {[string, number][]} the most frequent first
 */
function tally(outcomes, nameOf) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const outcome of outcomes) counts.set(nameOf(outcome), (counts.get(nameOf(outcome)) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1));
}
