/** The replay panel: the letters, the repair, the dry run's outcome, and the button that sends. */
import { replayRequest } from "../../api/dead_letters.js";
import { Button } from "../../parts/buttons.js";
import { Card } from "../../parts/cards.js";
import { CommittedInput } from "../../parts/committed_input.js";
import { CurlButton, Snippet } from "../../parts/copying.js";
import { Select } from "../../parts/menus.js";
import { setQuery } from "../../state/routes.js";
import { may } from "../../state/signals.js";
import { grouped } from "../../text/grouped.js";
import { html } from "../../vendor/ui.js";
import { counted } from "../../text/counted.js";
import { ReplayOutcome } from "./replay_outcome.js";
import { useReplay } from "./use_replay.js";
import {
  fixCommand,
  FORMATS,
  MOST_REPLAYED,
  mostOf,
  picksOf,
  purgeCommand,
  repairOf,
  replayCommand,
} from "./letter_request.js";

/** @typedef {ReturnType<typeof useReplay>} Replay */

/**
 * @param {{topic: string, query: Record<string, string>, wanted: import("../../api/dead_letters.js").LetterRequest,
 *   onSent: () => void}} props
 */
export function ReplayPanel({ topic, query, wanted, onSent }) {
  const picks = picksOf(query);
  const { repair, problem } = repairOf(query);
  const most = mostOf(query);
  const replay = useReplay({ topic, picks, wanted: { ...wanted, letters: most }, repair }, onSent);
  const refusal = may("replay", topic).reason;
  return html`
    <${Card} title="Replay" class="card replay" aria-label="Replay">
      <div class="stack">
        <${LetterChoice} picks=${picks.length} most=${most} again=${Boolean(repair.again)} />
        <${RepairForm} query=${query} problem=${problem} />
        <div class="row wrap replay-acts">
          <${Button} reason=${refusal || problem} disabled=${replay.running} onClick=${() =>
            replay.run(true)}>Dry run</${Button}>
          <${Button} kind="primary" reason=${refusal || problem || sendReason(replay)} disabled=${replay.running}
            onClick=${() => replay.run(false)}>${replay.sendable.length
              ? `Replay ${counted(replay.sendable.length, "letter")}`
              : "Replay"}</${Button}>
          ${replay.running && html`<${Button} kind="quiet" onClick=${replay.cancel}>Cancel</${Button}>`}
          <${Curls} topic=${topic} picks=${picks} repair=${repair} replay=${replay} />
        </div>
        ${replay.running && html`<${ReplayProgress} replay=${replay} />`}
        <${ReplayOutcome} topic=${topic} replay=${replay} command=${replayCommand(topic, query)} />
        <details class="s">
          <summary class="dim">A repair by a program of one's own</summary>
          <p class="dim">The page runs no programs. The command does, with the same letters:</p>
          <${Snippet} text=${fixCommand(topic, query)} />
        </details>
        <details class="s">
          <summary class="dim">Deleting letters that were replayed</summary>
          <p class="dim">The command deletes them from the beginning of each partition up to the first that was not:</p>
          <${Snippet} text=${purgeCommand(topic)} />
        </details>
      </div>
    </${Card}>
  `;
}

/** Why the replay cannot be sent yet; empty if it can. @param {Replay} replay */
function sendReason({ isDry, running, outcomes, rights, sendable }) {
  if (!isDry || running || !outcomes.length) return running ? "" : "Do a dry run first.";
  if (rights.length) return `${rightText(rights[0])} is missing.`;
  return sendable.length ? "" : "The dry run sends no letter.";
}

/** @param {import("../../api/dead_letters.js").Right} right */
const rightText = ({ operation, resource_type: type, resource_name: name }) =>
  `${operation} on ${type.toLowerCase().replaceAll("_", " ")} ${name}`;

/** @param {{picks: number, most: number, again: boolean}} props */
const LetterChoice = ({ picks, most, again }) =>
  picks > 0
    ? html`
      <p class="row wrap s"><span class="num">${counted(picks, "letter")} that you picked.</span>
        <${Button} kind="small" onClick=${() => setQuery({ pick: null })}>All of the filter instead</${Button}></p>
    `
    : html`
      <p class="row wrap s"><label class="row"><span>The newest</span>
        <${CommittedInput} class="num most" inputmode="numeric" aria-label="At most so many letters" value=${String(
          most,
        )}
        onCommit=${(/** @type {string} */ max) => setQuery({ max })} /></label>
        <span>letters of the filter${again ? "" : " that were not replayed"}, at most ${grouped(
          MOST_REPLAYED,
        )}.</span></p>
    `;

/** @param {{query: Record<string, string>, problem: string}} props */
function RepairForm({ query, problem }) {
  const choose = (/** @type {string} */ name) => (/** @type {string} */ value) =>
    setQuery({ [name]: value === "auto" || value === "value" ? null : value });
  return html`
    <div class="repair">
      <label class="field"><span>To topic</span>
        <${CommittedInput} class="mono" placeholder="each to its own" value=${query.to ?? ""}
          onCommit=${(/** @type {string} */ to) => setQuery({ to })} /></label>
      <label class="field"><span>Schema id into the frame</span>
        <${CommittedInput} class="mono num" inputmode="numeric" placeholder="as it is" value=${query.schema ?? ""}
          onCommit=${(/** @type {string} */ schema) => setQuery({ schema })} /></label>
      <label class="field"><span>of the</span><${Select} label="Which part gets the schema id"
        value=${query.part === "key" ? "key" : "value"} options=${["value", "key"]} onChange=${choose(
          "part",
        )} /></label>
      <label class="field"><span>Keys must be</span><${Select} label="Keys must be" value=${query.keys ?? "auto"}
        options=${FORMATS} onChange=${choose("keys")} /></label>
      <label class="field"><span>Values must be</span><${Select} label="Values must be" value=${query.values ?? "auto"}
        options=${FORMATS} onChange=${choose("values")} /></label>
      <label
        class="check"><input type="checkbox" checked=${query.again === "true"} onChange=${() =>
          setQuery({ again: query.again === "true" ? null : true })} />also those that were replayed</label>
    </div>
    ${problem && html`<p class="bad-text s" role="alert">✕ ${problem}</p>`}
    <p
      class="dim s">Each key and value is decoded before it is sent. What would fail again stays here, and so do masked letters.</p>
  `;
}

/** The buttons' requests as curl, once the letters are known. @param {any} props */
function Curls({ topic, picks, repair, replay }) {
  const { cluster, sendable } = replay;
  const places = sendable.length ? sendable : picks;
  if (cluster === null || !places.length) return null;
  const request = (/** @type {object} */ more) =>
    replayRequest(cluster, topic, places.slice(0, 500), { ...repair, ...more });
  return html`
    <${CurlButton} kind="quiet" label="Dry run as curl" request=${request({ validate_only: true })} />
    <${CurlButton} kind="quiet" label="Replay as curl" request=${request({})} />
  `;
}

/** @param {{replay: Replay}} props */
const ReplayProgress = ({ replay: { total, outcomes, isDry } }) =>
  html`
    <div class="row wrap s" role="status">
      <progress max=${Math.max(1, total)} value=${outcomes.length} aria-label="Replayed"></progress>
      <span class="num">${total
        ? `${grouped(outcomes.length)} of ${counted(total, "letter")} ${isDry ? "looked at" : "done"}`
        : "Looking for letters."}</span>
    </div>
  `;
