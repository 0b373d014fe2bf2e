/** The card for a newer version: the merge with the draft, or the three texts side by side. */
import { Button, Segmented } from "../../../parts/buttons.js";
import { html, useLayoutEffect, useMemo, useRef, useState } from "../../../vendor/ui.js";
import { counted } from "../../../text/counted.js";
import { mergedDraft, mergeDrafts } from "./merged_draft.js";
import { conflictsOf, MergeView } from "./merge_view.js";
import { ThreeTexts } from "./three_texts.js";

/**
 * @import { Choice } from "../../../text/merge.js"
 * @import { Draft } from "../draft/drafts.js"
 * @import { Part, PartName } from "./merged_draft.js"
 * @import { Choices } from "./merge_view.js"
 * @import { Theirs } from "./use_theirs.js"
 */

/**
 * @param {{
 *   theirs: Theirs, mine: Draft, start: string, onKeep: () => void, onTake: () => void,
 *   onMerge: (merged: Partial<Draft>) => void, onClose: () => void,
 * }} props  `start`: the text that the draft began with
 */
export function Conflict({ theirs: { draft: theirs, base }, mine, start, onKeep, onTake, onMerge, onClose }) {
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  // Focus before the next key press, so that the key does not go into the text behind the card.
  useLayoutEffect(() => heading.current?.focus(), []);
  const version = theirs.base;
  const parts = useMemo(() => mergeDrafts(base, mine, theirs), [base, mine, theirs]);
  const [view, setView] = useState(parts === null ? "texts" : "merge");
  const [choices, setChoices] = useState(/** @type {Choices} */ ({}));
  const merged = parts && mergedDraft(parts, choices);
  const onChoice = (/** @type {PartName} */ part, /** @type {number} */ conflict, /** @type {Choice} */ choice) => {
    const chosen = [...choices[part] ?? []];
    chosen[conflict] = choice;
    setChoices({ ...choices, [part]: chosen });
  };
  const left = parts === null ? 0 : openConflicts(parts, choices);
  return html`
    <section class="card conflict" aria-labelledby="conflict">
      <div class="row wrap conflict-head">
        <h2 id="conflict" class="grow" tabindex="-1" ref=${heading}>${titleOf(version, base.base)}</h2>
        ${parts !== null && html`
          <${Button} kind="primary" reason=${left > 0 ? `Decide ${counted(left, "conflict")} first.` : ""}
            onClick=${() => merged && onMerge(merged)}>Use the merged text</${Button}>
        `}
        <${Button} onClick=${onKeep}>Keep my text, on top of version ${version}</${Button}>
        <${Button} onClick=${onTake}>Take version ${version}</${Button}>
        <${Button} kind="quiet" onClick=${onClose}>Back to the editor</${Button}>
      </div>
      <div class="row wrap conflict-said">
        <p class="s dim grow" role="status">${summaryOf(
          parts,
          left,
          base.type === mine.type && theirs.type === mine.type,
        )}</p>
        ${parts !== null && html`
          <${Segmented} label="Shown" value=${view} options=${[["merge", "Merged"], ["texts", "Three texts"]]}
            onChange=${setView} />
        `}
      </div>
      ${view === "merge" && parts !== null
        ? html`<${MergeView} parts=${parts} version=${version} choices=${choices} onChoice=${onChoice} />`
        : html`
          <${ThreeTexts}
            mine=${{ title: "Yours", hint: "not registered", text: mine.text }}
            theirs=${{ title: "Theirs", hint: `version ${version}, the latest`, text: theirs.text }}
            start=${{ title: "The start", hint: `version ${mine.from ?? mine.base}`, text: start }} />
        `}
    </section>
  `;
}

/**
 * @param {number} version
 * @param {number} base
 */
function titleOf(version, base) {
  return version > base
    ? `Version ${version} came meanwhile. Nothing was registered.`
    : `Version ${base} was deleted meanwhile. Nothing was registered.`;
}

/**
 * @param {Part[]} parts
 * @param {Choices} choices
 */
function openConflicts(parts, choices) {
  return parts.reduce((count, part) => {
    const decided = (choices[part.name] ?? []).filter((choice) => choice !== undefined).length;
    return count + conflictsOf(part) - decided;
  }, 0);
}

/**
 * @param {Part[] | null} parts
 * @param {number} left
 * @param {boolean} isOneType
 */
function summaryOf(parts, left, isOneType) {
  if (!isOneType) return "The schemas are of different types: they cannot be merged.";
  if (parts === null) return "The texts are too large or too different to be merged.";
  const count = (/** @type {string} */ kind) =>
    parts.reduce((sum, { pieces }) => sum + pieces.filter((piece) => piece.kind === kind).length, 0);
  const [mine, theirs, equal] = ["mine", "theirs", "equal"].map(count);
  const words = [
    `${counted(mine, "change")} of yours`,
    `${theirs} of theirs`,
    ...(equal > 0 ? [`${equal} of both`] : []),
    ...(left > 0 ? [`${counted(left, "conflict")} to decide`] : []),
  ];
  return `${words.join(", ")}. The merged text is put into the editor and checked; nothing is registered.`;
}
