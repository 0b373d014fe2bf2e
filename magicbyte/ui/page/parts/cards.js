/** Cards, verdict cards, notes below a line, folds. */
import { html } from "../vendor/ui.js";
import { Icon } from "./icon.js";
import { VerdictBadge } from "./badges.js";

/** @param {{title?: any, aside?: any, footer?: any, children?: any, bare?: boolean, [attribute: string]: any}} props
 *  `bare`: the content has no padding */
export const Card = ({ title, aside, footer, children, bare = false, ...rest }) =>
  html`<section class="card" ...${rest}>
    ${title && html`<header><h2>${title}</h2><span class="grow"></span>${aside}</header>`}
    ${bare ? children : html`<div class="body">${children}</div>`}
    ${footer && html`<footer>${footer}</footer>`}
  </section>`;

/**
 * A verdict as a sentence with its reason; `ok`: null while undecided.
 * @param {{ok: boolean | null, title: any, reason?: any}} props
 */
export const VerdictCard = ({ ok, title, reason }) =>
  html`
    <section class="card verdict ${ok === null ? "" : ok ? "ok" : "bad"}">
      <span class="sign"><${Icon} name=${ok === null ? "more" : ok ? "check" : "cross"} size=${15} /></span>
      <div><h2>${title}</h2>${reason && html`<p>${reason}</p>`}</div>
    </section>
  `;

/**
 * The verdict of a registry that only checks its own level.
 * @param {{compatible: boolean, messages?: string[]}} props
 */
export const PlainVerdict = ({ compatible, messages = [] }) =>
  html`
    <${VerdictCard} ok=${compatible} reason=${messages.join(" ")}
      title=${`The registry's level ${compatible ? "allows" : "refuses"} this step`} />
  `;

/**
 * A rule's finding about a line: who breaks, what happens, the remedy, buttons.
 * @param {{tone?: "bad" | "ok" | "warn" | "info" | "", who?: any, rule?: any, children?: any, remedy?: any, actions?: any}} props
 */
export const Note = ({ tone = "bad", who, rule, children, remedy, actions }) =>
  html`<div class="note ${tone}" role="note">
    ${
    (who || rule) && html`<div class="note-head">
      ${
      who && (tone === "bad" || tone === "ok"
        ? html`<${VerdictBadge} ok=${tone === "ok"} text=${who} />`
        : html`<span class="badge ${tone}">${who}</span>`)
    }
      ${rule && html`<span class="rule">${rule}</span>`}
    </div>`
  }
    <div class="what">${children}</div>
    ${remedy && html`<p class="fix"><b>Remedy</b>${remedy}</p>`}
    ${actions && html`<div class="acts">${actions}</div>`}
  </div>`;

/**
 * A row that unfolds hidden rows: "29 lines as they were".
 * @param {{label: any, open: boolean, onToggle: () => void}} props
 */
export const Fold = ({ label, open, onToggle }) =>
  html`<button type="button" class="fold" aria-expanded=${String(open)} onClick=${onToggle}>
    <${Icon} name="chevron" size=${11} />${label}
  </button>`;
