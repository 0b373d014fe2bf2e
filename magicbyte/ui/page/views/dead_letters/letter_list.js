/** The letters of a topic: counts by group, the newest letters, and the replay. */
import { Button, LinkButton } from "../../parts/buttons.js";
import { Shown } from "../../parts/hostile.js";
import { Empty, Failure, Loading } from "../../parts/states.js";
import { path } from "../../api/encode_url.js";
import { href, setQuery } from "../../state/routes.js";
import { config, context, may } from "../../state/signals.js";
import { grouped } from "../../text/grouped.js";
import { html } from "../../vendor/ui.js";
import { Crumb } from "../subject/subject_head.js";
import { NoProxy } from "../kafka/broker.js";
import { counted } from "../../text/counted.js";
import { GroupTable } from "./group_table.js";
import { LetterBar } from "./letter_bar.js";
import { LetterTable } from "./letter_table.js";
import { ReplayPanel } from "./replay_panel.js";
import { useLetters } from "./use_letters.js";
import { letterRequest } from "./letter_request.js";

/** @typedef {import("../../api/dead_letters.js").LetterRequest} LetterRequest */
/** @typedef {ReturnType<typeof useLetters>} Letters */

const BAD_REQUEST = 400;
const TOO_COSTLY = 422;
/** Why a count ended before the beginning of the topic. @type {Record<string, string>} */
const REASONS = {
  records: "The count ended at its limit.",
  bytes: "The count ended at its limit of bytes.",
  time: "The count ended at its limit of time.",
};

/** @param {import("../../state/types.d.ts").ViewProps} props */
export default function LettersPage({ params: { topic }, query }) {
  const open = query.replay === "true";
  const actions = html`
    <${LinkButton} href=${href(path`/topics/${topic}/messages`)}>Messages</${LinkButton}>
    <${Button} kind="primary" reason=${may("replay", topic).reason} aria-expanded=${String(open)}
      onClick=${() => setQuery({ replay: open ? null : true })}>Replay…</${Button}>
  `;
  return html`
    <header class="head tabless">
      <${Crumb} items=${[["Dead letters", href("/dead-letters")], [topic]]} />
      <div class="head-row">
        <div class="head-name">
          <h1 tabindex="-1">
            <${Shown} name text=${topic} />
          </h1>
        </div>
        <div class="head-actions">${config.value.restAvailable && actions}</div>
      </div>
    </header>
    <div class="page letters">
      ${config.value.restAvailable
        ? html`<${LetterCount} topic=${topic} query=${query} wanted=${letterRequest(topic, query, context.value)} />`
        : html`<${NoProxy} topic=${topic} />`}
    </div>
  `;
}

/** @param {{topic: string, query: Record<string, string>, wanted: LetterRequest}} props */
function LetterCount({ topic, query, wanted }) {
  const found = useLetters(wanted);
  const { counts, error, letters, running } = found;
  return html`
    <${LetterBar} query=${query} wanted=${wanted} />
    ${query.replay === "true" &&
      html`<${ReplayPanel} topic=${topic} query=${query} wanted=${wanted} onSent=${found.again} />`}
    ${error && html`<${CountFailure} error=${error} again=${found.again} />`}
    ${running && html`<${CountProgress} found=${found} />`}
    ${!error && html`<${Remarks} found=${found} />`}
    ${counts && counts.matched > 0 && html`
      <${GroupTable} topic=${topic} query=${query} groups=${counts.groups} hasNotes=${!found.begin?.notesProblem} />
      <${LetterTable} topic=${topic} query=${query} letters=${letters} matched=${counts.matched} />
    `}
    ${!running && !error && !found.cancelled && counts?.matched === 0 &&
      html`<${NoLetters} query=${query} total=${found.begin?.total ?? 0} />`}
  `;
}

/** @param {{error: any, again: () => void}} props */
const CountFailure = ({ error, again }) =>
  error.status === BAD_REQUEST || error.status === TOO_COSTLY
    ? html`<p class="bad-text s letter-problem anywhere" role="alert">✕ ${error.message}</p>`
    : html`<${Failure} error=${error} again=${again} />`;

/** @param {{found: Letters}} props */
function CountProgress({ found }) {
  const { begin, counts, cancel } = found;
  if (!begin) return html`<${Loading} rows=${8} onCancel=${cancel} />`;
  return html`
    <div class="count-progress row wrap s" role="status">
      <progress max=${Math.max(1, begin.total)} value=${counts?.scanned ?? 0} aria-label="Counted"></progress>
      <span class="num">${grouped(counts?.scanned ?? 0)} of ${counted(begin.total, "record")} counted</span>
      <${Button} kind="small" onClick=${cancel}>Cancel</${Button}>
    </div>
  `;
}

/** Says which letters and groups the counts leave out. @param {{found: Letters}} props */
function Remarks({ found }) {
  const { begin, counts, end, cancelled } = found;
  const scanned = counted(counts?.scanned ?? 0, "record");
  const words = [
    cancelled && `Cancelled after ${scanned}, the newest first.`,
    end && REASONS[end.reason] &&
    `${REASONS[end.reason]} ${scanned} are counted, the newest; choose a time for others.`,
    begin?.notesProblem && `Which letters were replayed is not known: ${begin.notesProblem}`,
    counts?.unreadable && `${counted(counts.unreadable, "record")} could not be read within the limits.`,
    counts?.groupsLeftOut && `${counted(counts.groupsLeftOut, "group")} more.`,
    counts?.lettersLeftOut && `${counted(counts.lettersLeftOut, "letter")} of further groups are not counted.`,
  ].filter(Boolean);
  return words.length > 0 &&
    html`<div class="count-remarks s warn-text anywhere" role="status">${
      words.map((text) => html`<p key=${text}>${text}</p>`)
    }</div>`;
}

/** @param {{query: Record<string, string>, total: number}} props */
function NoLetters({ query, total }) {
  const isNarrow = query.where || query.group || query.since || query.until || query.replayed;
  const all = { where: null, group: null, since: null, until: null, replayed: null };
  return html`<${Empty} title=${isNarrow ? "No letters fit" : "No letters in this topic"} actions=${
    isNarrow && html`<${Button} onClick=${() => setQuery(all)}>All letters</${Button}>`
  }>
    ${total > 0 && html`<p class="num">${counted(total, "record")} searched.</p>`}
  </${Empty}>`;
}
