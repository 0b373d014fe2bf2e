/** The merge of a draft with a newer version: the changes of each side, and the conflicts to decide. */
import { Segmented } from "../../../parts/buttons.js";
import { Fold } from "../../../parts/cards.js";
import { Shown } from "../../../parts/hostile.js";
import { mayTakeBoth } from "../../../text/merge.js";
import { html, useState } from "../../../vendor/ui.js";
import { counted } from "../../../text/counted.js";

/**
 * @import { Choice, Piece } from "../../../text/merge.js"
 * @import { Part, PartName } from "./merged_draft.js"
 * @typedef {Partial<Record<PartName, (Choice | undefined)[]>>} Choices
 */

/** Longer runs of equal lines are folded, except the lines next to a change. */
const FOLDED = 8;
const NEAR = 3;

/** How many conflicts a part has. @param {Part} part */
export const conflictsOf = ({ pieces }) => pieces.filter(({ kind }) => kind === "conflict").length;

/**
 * @param {{
 *   parts: Part[], version: number, choices: Choices, onChoice: (part: PartName, conflict: number, choice: Choice) => void,
 * }} props  `version`: the number of the newer version
 */
export function MergeView({ parts, version, choices, onChoice }) {
  return html`
    <div class="merge" tabindex="0" role="group" aria-label="Merge">
      ${parts.map((part) =>
        html`
          <section key=${part.name} aria-label=${part.title}>
            ${parts.length > 1 && html`<h3>${part.title}</h3>`}
            <div class="code wrapped">${rowsOf(part, version, choices, onChoice)}</div>
          </section>
        `
      )}
    </div>
  `;
}

/**
 * @param {Part} part
 * @param {number} version
 * @param {Choices} choices
 * @param {(part: PartName, conflict: number, choice: Choice) => void} onChoice
 */
function rowsOf({ name, title, pieces }, version, choices, onChoice) {
  let number = 0;
  return pieces.map((piece, index) => {
    if (piece.kind === "same") {
      return html`
        <${UnchangedLines} key=${index} lines=${piece.mine} first=${index === 0} last=${index === pieces.length - 1} />
      `;
    }
    if (piece.kind !== "conflict") return html`<${ChangedLines} key=${index} piece=${piece} version=${version} />`;
    const conflict = number++;
    return html`
      <${ConflictChoice} key=${index} piece=${piece} version=${version} label=${`${title}: conflict ${conflict + 1}`}
        choice=${choices[name]?.[conflict]} onChoice=${(/** @type {Choice} */ choice) =>
          onChoice(name, conflict, choice)} />
    `;
  });
}

/** @param {{lines: string[], first: boolean, last: boolean}} props */
function UnchangedLines({ lines, first, last }) {
  const [open, setOpen] = useState(false);
  const [head, tail] = [first ? 0 : NEAR, last ? 0 : NEAR];
  const folded = lines.length - head - tail;
  if (folded < FOLDED) return plain(lines);
  return html`
    ${plain(lines.slice(0, head))}
    <${Fold} label=${`${counted(folded, "line")} as they were`} open=${open} onToggle=${() => setOpen(!open)} />
    ${open && plain(lines.slice(head, lines.length - tail))}
    ${plain(lines.slice(lines.length - tail))}
  `;
}

/** @param {string[]} lines */
const plain = (lines) => lines.map((line, index) => html`<${Line} key=${index} line=${line} />`);

/** The lines that one side changed, or both sides in the same way. @param {{piece: Piece, version: number}} props */
function ChangedLines({ piece: { kind, base, mine, theirs }, version }) {
  const who = kind === "mine" ? "yours" : kind === "theirs" ? `version ${version}` : "both";
  return html`
    <div class="merged" role="group" aria-label=${`Changed: ${who}`}>
      <span class="badge line">${who}</span>
      ${base.map((line, index) => html`<${Line} key=${`old ${index}`} line=${line} kind="del" />`)}
      ${(kind === "theirs" ? theirs : mine).map((line, index) =>
        html`<${Line} key=${index} line=${line} kind="add" />`
      )}
    </div>
  `;
}

/**
 * @param {{piece: Piece, version: number, label: string, choice?: Choice, onChoice: (choice: Choice) => void}} props
 */
function ConflictChoice({ piece, version, label, choice, onChoice }) {
  const { base, mine, theirs } = piece;
  /** @type {[string, string][]} */
  const options = [["mine", "Yours"], ["theirs", "Theirs"]];
  if (mayTakeBoth(piece)) options.push(["both", "Both"]);
  return html`
    <div class="conflicting" role="group" aria-label=${label}>
      <p class="row wrap">
        <b class=${choice ? "" : "bad-text"}>${choice ? "Decided" : "▲ Both changed this"}</b>
        <span class="grow"></span>
        <${Segmented} label=${`Take, ${label}`} options=${options} value=${choice ?? ""} onChange=${onChoice} />
      </p>
      ${base.length > 0 && html`<${Side} title="It was" lines=${base} kind="del" taken=${false} />`}
      <div class="sides">
        <${Side} title="Yours" lines=${mine} kind="add" taken=${choice === "mine" || choice === "both"} />
        <${Side} title=${`Theirs, version ${version}`} lines=${theirs} kind="add"
          taken=${choice === "theirs" || choice === "both"} />
      </div>
    </div>
  `;
}

/** @param {{title: string, lines: string[], kind: "add" | "del", taken: boolean}} props */
function Side({ title, lines, kind, taken }) {
  return html`
    <div class=${taken ? "side-of taken" : "side-of"}>
      <p class="xs dim">${title}${taken && html`, <b>taken</b>`}${lines.length === 0 && ": removed"}</p>
      ${lines.map((line, index) => html`<${Line} key=${index} line=${line} kind=${kind} />`)}
    </div>
  `;
}

/** @param {{line: string, kind?: "" | "add" | "del"}} props */
function Line({ line, kind = "" }) {
  return html`
    <div class=${`l ${kind}`}>
      <span></span>
      <span>${kind && html`
        <span aria-hidden="true">${kind === "del" ? "−" : "+"}</span><span class="hidden-text">${kind === "del"
          ? "removed "
          : "added "}</span>
      `}</span>
      <span><${Shown} text=${line} /></span>
    </div>
  `;
}
