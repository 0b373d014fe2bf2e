/** One letter: why it failed, its origin, its headers, and its key and value as far as they decode. */
import { letterAt } from "../../api/dead_letters.js";
import { Button, LinkButton } from "../../parts/buttons.js";
import { Card } from "../../parts/cards.js";
import { CurlButton } from "../../parts/copying.js";
import { Shown } from "../../parts/hostile.js";
import { Loaded } from "../../parts/states.js";
import { Time } from "../../parts/times.js";
import { useRequest } from "../../parts/use_request.js";
import { path } from "../../api/encode_url.js";
import { href, setQuery } from "../../state/routes.js";
import { config, context, may } from "../../state/signals.js";
import { fromBase64, toHex } from "../../text/bytes.js";
import { html } from "../../vendor/ui.js";
import { Crumb } from "../subject/subject_head.js";
import { NoProxy } from "../kafka/broker.js";
import { counted } from "../../text/counted.js";
import { LetterPart } from "./letter_part.js";

/** @param {import("../../state/types.d.ts").ViewProps} props */
export default function LetterPage({ params: { topic, partition, offset }, query }) {
  const place = `${partition}:${offset}`;
  const isPlace = /^\d{1,9}:\d{1,15}$/.test(place);
  const wanted = {
    topic,
    ...(context.value ? { context: context.value } : {}),
    partition: Number(partition),
    offset: Number(offset),
    ...(query.whole === "true" ? { whole: true } : {}),
  };
  const hasLetter = isPlace && config.value.restAvailable;
  const request = useRequest(hasLetter ? (signal) => letterAt(wanted, { signal }) : null, [wanted, hasLetter]);
  const actions = html`
    <${CurlButton} kind="quiet" request=${{ method: "POST", path: "/dead-letter", base: "ui", body: wanted }} />
    <${LinkButton} kind="primary" href=${href(path`/dead-letters/${topic}`, { pick: place, replay: true })}
      reason=${may("replay", topic).reason}>Replay…</${LinkButton}>
  `;
  return html`
    <header class="head tabless">
      <${Crumb} items=${[["Dead letters", href("/dead-letters")], [topic, href(path`/dead-letters/${topic}`)], [
        place,
      ]]} />
      <div class="head-row">
        <div class="head-name">
          <h1 tabindex="-1">Letter <span class="num">${place}</span></h1>
        </div>
        <div class="head-actions">${hasLetter && actions}</div>
      </div>
    </header>
    <div class="page letter">
      ${!config.value.restAvailable
        ? html`<${NoProxy} topic=${topic} />`
        : isPlace
        ? html`<${Loaded} request=${request} rows=${10}>${(/** @type {any} */ data) =>
          html`<${Letter} topic=${topic} data=${data} />`}</${Loaded}>`
        : html`<p>A letter's address ends with the numbers of a partition and an offset.</p>`}
    </div>
  `;
}

/** @param {{topic: string, data: any}} props */
function Letter({ topic, data: { letter, replayed, notesProblem } }) {
  return html`
    <${FailureCard} topic=${topic} letter=${letter} replayed=${replayed} notesProblem=${notesProblem} />
    ${["key", "value"].map((part) =>
      html`<${LetterPart} key=${part} name=${part} part=${letter[part]} isMasked=${letter.failure?.masked} />`
    )}
    ${isCut(letter) &&
      html`
        <p>
          <${Button} onClick=${() => setQuery({ whole: true })}>Show all bytes</${Button}></p>
      `}
    <${Headers} headers=${letter.headers} />
  `;
}

/** @param {any} letter */
const isCut = ({ key, value }) =>
  [key, value].some((part) => part && (part.preview !== undefined || part.bytes > fromBase64(part.base64).length));

/** @param {{topic: string, letter: any, replayed: any, notesProblem: string | null}} props */
function FailureCard({ topic, letter, replayed, notesProblem }) {
  const failure = letter.failure;
  const group = href(path`/dead-letters/${topic}`, { group: letter.fingerprint });
  if (!failure) {
    return html`
      <${Card} title="No headers of a dead letter">
        <p>The record says neither where it came from nor why it failed. It can be replayed to a topic that one names.</p>
        <dl class="facts">
          <dt>Time</dt>
          <dd>
            <${Time} ms=${letter.timestamp} full />
          </dd>
        </dl>
        </${Card}>
    `;
  }
  const from = failure.partition >= 0 && failure.offset >= 0;
  return html`
    <${Card} title="Why it failed" aria-label="Why it failed">
      <dl class="facts">
        <dt>Reason</dt><dd><pre class="plain reason-text"><${Shown} text=${failure.message ??
          "none is given"} /></pre></dd>
        ${fact("Exception", failure.exception)}
        ${fact("Stage", failure.stage)}
        <dt>Fingerprint</dt><dd><a class="link mono" href=${group}>${letter.fingerprint}</a></dd>
        <dt>Origin</dt><dd>${from
          ? html`<a class="link mono" href=${
            href(path`/topics/${failure.topic}/messages`, { partition: failure.partition, offset: failure.offset })
          }><${Shown} name text=${failure.topic} /> ${failure.partition}:${failure.offset}</a>`
          : html`<span class="mono"><${Shown} name text=${failure.topic} /></span>`}</dd>
        ${fact("Pipeline", failure.connector)}
        ${fact("Executing", failure.executing)}
        ${fact("Quality checks", failure.quality)}
        ${fact("Batch", failure.batch)}
        ${fact("Attempt", failure.attempt)}
        ${fact("Subject", failure.subject)}
        <dt>Time</dt><dd><${Time} ms=${failure.timestamp ?? letter.timestamp} full /></dd>
        <dt>Replayed</dt><dd>${replayedText(letter.replays, replayed, notesProblem)}</dd>
      </dl>
      ${failure.masked && html`
        <p class="warn-text s">! The letter is masked: it has neither key, value nor headers, and is never replayed.</p>
      `}
      ${failure.stacktrace && html`
        <details class="s">
          <summary class="dim">Stack trace</summary>
          <pre class="plain stack-trace mono" tabindex="0" role="region"
            aria-label="Stack trace"><${Shown} text=${failure.stacktrace} /></pre>
        </details>
      `}
    </${Card}>
  `;
}

/** @param {string} name @param {any} value */
const fact = (name, value) =>
  value !== null && value !== undefined &&
  html`
    <dt>${name}</dt>
    <dd class="mono">
      <${Shown} text=${String(value)} />
    </dd>
  `;

/** @param {number} replays @param {{count: number, time: number, topic: string} | null} note @param {string | null} problem */
function replayedText(replays, note, problem) {
  const before = replays > 0 && html`<span class="num">${counted(replays, "time")} before it failed again</span>`;
  const since = note &&
    html`<span class="num">${counted(note.count, "time")} since, the last to <span class="mono anywhere"
    ><${Shown} name text=${note.topic} /></span>, <${Time} ms=${note.time} full /></span>`;
  if (problem) return html`${before}${before && "; "}not known: ${problem}`;
  if (!before && !since) return "never";
  return html`${before}${before && since && "; "}${since}`;
}

/** @param {{headers: {name: string, value?: string | null, base64?: string}[]}} props */
const Headers = ({ headers }) =>
  html`
    <${Card} title="Headers of the record" aria-label="Headers of the record">
      ${headers.length
        ? html`<dl class="facts">${
          headers.map(({ name, value, base64 }, i) =>
            html`
              <dt key=${i} class="mono anywhere">
                <${Shown} name text=${name} />
              </dt>
              <dd key=${i + "-"} class="mono">${base64 !== undefined
                ? toHex(fromBase64(base64), " ")
                : value === null
                ? html`<span class="faint">null</span>`
                : html`<${Shown} text=${value} />`}</dd>
            `
          )
        }</dl>`
        : html`<p class="dim s">none</p>`}
    </${Card}>
  `;
