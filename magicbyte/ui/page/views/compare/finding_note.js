/** A finding of the registry: the difference, the harm, the remedy, and an example datum. */

import { Note } from "../../parts/cards.js";
import { CopyButton } from "../../parts/copying.js";
import { Shown } from "../../parts/hostile.js";
import { html } from "../../vendor/ui.js";
import { headlineOf, ruleWords } from "./words.js";

/** @import { Comparison, Finding } from "../../text/answers.d.ts" */
/** @import { Hint } from "./rows.js" */

/** @param {{hints: Hint[], comparison: Comparison, subject: string}} props */
export function FindingNotes({ hints, comparison, subject }) {
  return hints.map(({ finding, change }, index) =>
    html`<${FindingNote} finding=${finding} name=${change.name} comparison=${comparison} subject=${subject} key=${index} />`
  );
}

/** @param {{finding: Finding, name: string | null, comparison: Comparison, subject: string}} props */
function FindingNote({ finding, name, comparison, subject }) {
  const error = finding.severity === "error";
  return html`
    <${Note}
      tone=${error ? "bad" : "warn"}
      who=${headlineOf(finding, comparison, subject)}
      rule=${`${ruleWords(finding.rule, finding.direction === "FORWARD")} ${finding.path}`}
      remedy=${finding.remedy && html`<${Shown} text=${finding.remedy} />`}
    >
        <${Emphasised} text=${finding.change} name=${name} /> <${Shown} text=${finding.harm} />
        ${(finding.example || finding.effect) && html`<${Witness} finding=${finding} />`}
      </${Note}>
  `;
}

/** The datum that breaks, and how the reader decodes it. @param {{finding: Finding}} props */
function Witness({ finding }) {
  const { example, effect } = finding;
  return html`<div class="witness">
    <p>${
    example && html`
      <b>Example</b>${" "}
    `
  }<span class="dim"><${Shown} text=${effect} /></span></p>
    ${
    example && html`
      <div class="example">
        <code class="mono" tabindex="0" role="region"
          aria-label="A datum that shows it"><${Shown} text=${example} /></code>
        <${CopyButton} text=${example} label="Copy the example" kind="quiet small icon" />
      </div>
    `
  }
  </div>`;
}

/**
 * A sentence with types in capitals and the field's name in bold.
 * @param {{text: string, name: string | null}} props
 */
function Emphasised({ text, name }) {
  const names = name ? [name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")] : [];
  const pattern = new RegExp(`((?<![\\w.])(?:[A-Z][A-Z0-9_]{2,}${names.map((part) => "|" + part).join("")})(?![\\w]))`);
  return text.split(pattern).map((part, index) =>
    index % 2 ? html`<b><${Shown} text=${part} /></b>` : html`<${Shown} text=${part} />`
  );
}
