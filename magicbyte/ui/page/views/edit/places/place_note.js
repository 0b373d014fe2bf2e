/** The note under a place: which readers break, how, on which datum, and the remedies as buttons. */
import { Shown } from "../../../parts/hostile.js";
import { Icon } from "../../../parts/icon.js";
import { html } from "../../../vendor/ui.js";
import { renamedFrom } from "./findings.js";
import { ruleWords } from "../../compare/words.js";
import { whoOf } from "./words.js";

/**
 * @import { Fix, Place } from "./findings.js"
 */

/** The most remedies that a place shows. */
const MOST = 4;

/**
 * The remedies of a place's findings without duplicate edits; remedies for new readers first.
 * @param {Place} place
 * @returns {Fix[]}
 */
export function fixesOf(place) {
  /** @type {Map<string, Fix>} */
  const fixes = new Map();
  for (const finding of [...place.findings].sort((one, other) => side(one) - side(other))) {
    for (const fix of finding.fixes) {
      const edits = JSON.stringify(fix.edits);
      if (!fixes.has(edits)) fixes.set(edits, fix);
    }
  }
  return [...fixes.values()].slice(0, MOST);
}

/** @param {import("./findings.js").Explanation} finding */
function side({ direction }) {
  return direction === "BACKWARD" ? 0 : 1;
}

/**
 * @param {{place: Place, onFix: (fix: Fix) => void, onClose: () => void, name: string | null, disabled: boolean}} props
 */
export function PlaceNote({ place, onFix, onClose, name, disabled }) {
  const [finding] = [...place.findings].sort((one, other) => side(one) - side(other));
  const fixes = fixesOf(place);
  const renamed = place.missed ?? (fixes.some(({ title }) => title.endsWith(": renamed?")) ? renamedFrom(place) : null);
  return html`
    <div class=${`note ${place.warning ? "warn" : "bad"}`} role="note" onKeyDown=${(
      /** @type {KeyboardEvent} */ event,
    ) => {
      if (event.key === "Escape") onClose();
    }}>
      <div class="note-head">
        <span class=${`badge ${place.warning ? "warn" : "bad"}`}>${place.warning ? "▲" : "✕"} ${whoOf(
          place,
        )}</span>
        <span class="row">
          <span class="rule">${ruleWords(
            place.rule,
            place.findings.every((each) => each.direction === "FORWARD"),
          )}</span>
          <button type="button" class="btn quiet icon small" aria-label="Close the note" onClick=${onClose}>
            <${Icon} name="cross" size=${11} />
          </button>
        </span>
      </div>
      <p class="what"><${BoldName} text=${finding.harm || finding.change} name=${name} /></p>
      ${(finding.example || finding.effect) && html`<${Witness} finding=${finding} />`}
      <p class="fix"><b>Remedy</b><${Shown} text=${finding.remedy} /></p>
      ${fixes.length > 0 && html`
        <p class="acts">
          ${fixes.map((fix) =>
            html`
              <button key=${fix.title} class="btn small" type="button" disabled=${disabled} onClick=${() => onFix(fix)}>
                ${labelOf(fix.title)}
              </button>
            `
          )}
          ${renamed !== null && name !== null && html`
            <span class="xs faint">${renamed} went, ${name} came: renamed?</span>
          `}
        </p>
      `}
    </div>
  `;
}

/** @param {{finding: import("./findings.js").Explanation}} props */
function Witness({ finding: { example, effect } }) {
  if (!example) return html`<p class="xs dim witness">${effect}</p>`;
  return html`
    <details class="witness">
      <summary class="xs dim">An example: ${effect ?? "a datum that breaks"}</summary>
      <pre class="mono xs" tabindex="0" aria-label="A datum that breaks"><${Shown} text=${example} /></pre>
    </details>
  `;
}

/**
 * A sentence with a name in bold.
 * @param {{text: string, name: string | null}} props
 */
function BoldName({ text, name }) {
  const at = name === null || name === "" ? -1 : text.indexOf(name);
  if (name === null || at < 0) return html`<${Shown} text=${text} />`;
  const [before, after] = [text.slice(0, at), text.slice(at + name.length)];
  return html`<${Shown} text=${before} /><b><${Shown} text=${name} /></b><${Shown} text=${after} />`;
}

/** @param {string} title  a remedy's title in the registry's words, such as `Add the alias "dest": renamed?` */
function labelOf(title) {
  return title.replace(/^Add the /, "Add ").replace(/: renamed\?$/, "");
}
