/** The newest selected letters. The user can pick letters to replay. */
import { Button } from "../../parts/buttons.js";
import { Shown } from "../../parts/hostile.js";
import { Time } from "../../parts/times.js";
import { path } from "../../api/encode_url.js";
import { href, setQuery } from "../../state/routes.js";
import { grouped } from "../../text/grouped.js";
import { html } from "../../vendor/ui.js";
import { counted } from "../../text/counted.js";
import { MOST_PICKED, picksOf, placeText } from "./letter_request.js";

/** @typedef {import("../../api/dead_letters.js").Letter} Letter */

/** @param {{topic: string, query: Record<string, string>, letters: Letter[], matched: number}} props */
export function LetterTable({ topic, query, letters, matched }) {
  const picks = picksOf(query).map(placeText);
  const put = (/** @type {string[]} */ places) => setQuery({ pick: places.join(",") });
  const toggle = (/** @type {string} */ place) =>
    put(picks.includes(place) ? picks.filter((other) => other !== place) : [...picks, place]);
  return html`
    <section class="card letter-card" aria-label="Letters">
      <header>
        <h2>Letters</h2>
        <span class="dim s num">${letters.length < matched
          ? `the newest ${grouped(letters.length)} of ${grouped(matched)}`
          : counted(letters.length, "letter")}</span>
        <span class="grow"></span>
        ${picks.length > 0 && html`
          <span class="s num">${grouped(picks.length)} picked</span>
          <${Button} kind="small" onClick=${() => put([])}>Pick none</${Button}>
        `}
        ${picks.length === 0 &&
          html`<${Button} kind="small" onClick=${() =>
            put(letters.slice(0, MOST_PICKED).map(placeText))}>Pick these</${Button}>`}
      </header>
      <ul class="letter-list">${letters.map((letter) =>
        html`
          <${Row} key=${placeText(letter)} topic=${topic} letter=${letter} isPicked=${picks.includes(placeText(letter))}
            isFull=${picks.length >= MOST_PICKED} onToggle=${() => toggle(placeText(letter))} />
        `
      )}</ul>
    </section>
  `;
}

/** @param {{topic: string, letter: Letter, isPicked: boolean, isFull: boolean, onToggle: () => void}} props */
function Row({ topic, letter, isPicked, isFull, onToggle }) {
  const { origin, pipeline, stage, reason, schema, replayed, masked, replays } = letter;
  const place = placeText(letter);
  return html`
    <li class="letter-row">
      <label class="pick"><input type="checkbox" aria-label=${`Pick ${place}`} checked=${isPicked}
        disabled=${isFull && !isPicked} onChange=${onToggle} /></label>
      <a class="link mono num letter-at" href=${href(
        path`/dead-letters/${topic}/${letter.partition}/${letter.offset}`,
      )}>${place}</a>
      <span class="dim xs nowrap letter-time"><${Time} ms=${letter.timestamp} /></span>
      <span class="letter-words anywhere">
        ${stage && html`
          <span class="badge line"><${Shown} text=${stage} /></span>${" "}
        `}<${Shown} text=${reason} />
        <span class="dim xs letter-more">${origin
          ? html`<span>from <span class="mono"><${Shown} name text=${origin.topic} /> ${origin.partition}:${origin.offset}</span></span>`
          : html`<span>from an unknown place</span>`}${pipeline &&
          html`<span>by <span class="mono"><${Shown} name text=${pipeline} /></span></span>`}${schema &&
          html`<span>schema <span class="mono">${schema}</span></span>`}${replays > 0 &&
          html`<span class="num">replayed ${counted(replays, "time")} before</span>`}</span>
      </span>
      <span class="row letter-marks">${replayed && html`<span class="badge ok">replayed</span>`}${masked &&
        html`<span class="badge warn">masked</span>`}</span>
    </li>
  `;
}
