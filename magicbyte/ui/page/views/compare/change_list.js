/** The changes by field, the readers that each change breaks, and the verdicts of other levels. */

import { valueOr } from "../../api/fact.js";
import { Badge, VerdictBadge } from "../../parts/badges.js";
import { GapWords } from "../../parts/gap.js";
import { Shown } from "../../parts/hostile.js";
import { refusesVersions } from "../../state/modes.js";
import { counted, numbered } from "../../text/counted.js";
import { grouped } from "../../text/grouped.js";
import { html, useState } from "../../vendor/ui.js";
import { changeLines, effectOf, signOf, signWord } from "./words.js";

/** @import { Fact } from "../../api/fact.js" */
/** @import { Change, Comparison } from "../../text/answers.d.ts" */

/** The number of changes listed at first, and added by each further step. */
const STEP = 200;
const LEVELS = ["BACKWARD", "FORWARD", "FULL"];
const TONES = { "+": "a", "−": "d", "~": "c" };

/**
 * @typedef {{level: Fact<string>, mode: Fact<string>}} Settings of the subject
 * @param {{comparison: Comparison, current: number, settings: Settings | null, choose: (index: number) => void}} props
 */
export function ChangeList({ comparison, current, settings, choose }) {
  const { changes, unchanged, cut } = comparison;
  const [limit, setLimit] = useState(STEP);
  // Always list the current change: the keys go through all changes.
  const most = Math.max(limit, Math.ceil((current + 1) / STEP) * STEP);
  const left = changes.length - most;
  return html`
    <aside class="card changes" aria-label="Changes">
      <header class="changes-head">
        <h2>${counted(changes.length, "change")}${cut && " and more"}</h2>
        <span class="faint">${unchangedWords(comparison, unchanged)}</span>
      </header>
      <ol>
          ${changes.slice(0, most).map((change, index) =>
            html`
              <li key=${change.path + index}>
                <${ChangeItem} change=${change} on=${index === current} choose=${() => choose(index)} />
              </li>
            `
          )}
          ${left > 0 && html`
            <li
              class="more"><button type="button" class="btn small" onClick=${() =>
                setLimit(most + STEP)}>Show ${grouped(Math.min(STEP, left))} of ${grouped(left)} more</button></li>
          `}
        </ol>
      <${OtherLevels} levels=${comparison.levels} settings=${settings} />
    </aside>
  `;
}

/** @param {Comparison} comparison @param {number} unchanged */
function unchangedWords(comparison, unchanged) {
  const proto = comparison.to.schemaType === "PROTOBUF";
  return `${counted(unchanged, proto ? "entry" : "field", proto ? "entries" : "fields")} as ${
    numbered(unchanged, "it was", "they were")
  }`;
}

/** @param {{change: Change, on: boolean, choose: () => void}} props */
function ChangeItem({ change, on, choose }) {
  const sign = signOf(change);
  const [first, ...others] = changeLines(change);
  const doc = change.kind === "added" ? change.new?.doc : null;
  return html`
    <button type="button" class="change" aria-current=${on ? "true" : undefined} onClick=${choose}>
      <span class=${`sign ${TONES[sign]}`} aria-hidden="true">${sign}</span>
      <span class="change-body">
          <span class="change-head">
            <span class="hidden-text">${signWord(change)} </span>
            <b class="mono"><${Shown} text=${change.name ?? change.path} /></b>
            <${Effect} findings=${change.findings} />
          </span>
          <span class="mono dim s line"><${Shown} text=${first} /></span>
          ${others.map((line) => html`<span class="mono dim s line"><${Shown} text=${line} /></span>`)}
          ${doc && html`<span class="xs faint line"><${Shown} text=${doc} /></span>`}
        </span>
    </button>
  `;
}

/**
 * A badge that says which readers a change breaks.
 * @param {{findings: import("../../text/answers.d.ts").Finding[]}} props
 */
export function Effect({ findings }) {
  const { ok, text } = effectOf(findings);
  if (ok === null) return html`<${Badge} tone="warn"><span aria-hidden="true">!</span>${text}</${Badge}>`;
  return html`
    <${VerdictBadge}
      ok=${ok}
      text=${html`<span class="hidden-text">${ok ? "safe " : "breaks "}</span>${text}`}
    />
  `;
}

/** @param {{levels: Record<string, boolean>, settings: Settings | null}} props `settings` is null while they load */
function OtherLevels({ levels, settings }) {
  const level = settings ? valueOr(settings.level, null) : null;
  const mode = settings ? valueOr(settings.mode, null) : null;
  return html`
    <div class="other-levels">
      <h3>If the level were</h3>
      <dl>
          ${LEVELS.filter((name) => name in levels).map((name) =>
            html`
              <dt class="mono">${name}${level?.startsWith(name) && html`${" "}<span class="faint">now</span>`}</dt>
              <dd>
                <${VerdictBadge} ok=${levels[name]} text=${levels[name] ? "allowed" : "refused"} />
              </dd>
            `
          )}
        </dl>
      ${settings && settings.level.gap !== null &&
        html`<p class="s">The level now: <${GapWords} fact=${settings.level} /></p>`}
      ${mode !== null && refusesVersions(mode) &&
        html`<p class="s warn-text">The mode is ${mode}: it refuses a new version, whatever the level.</p>`}
    </div>
  `;
}
