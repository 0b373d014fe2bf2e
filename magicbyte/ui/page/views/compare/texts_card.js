/** The card with both texts and the notes below their lines. */

import { LinkButton } from "../../parts/buttons.js";
import { numberedUpTo } from "../../parts/code_text.js";
import { Empty } from "../../parts/states.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { fold, scopeAt, scopesOf } from "../../text/folds.js";
import { counted } from "../../text/counted.js";
import { html, useEffect, useMemo, useState } from "../../vendor/ui.js";
import { DiffText } from "./diff_text.js";
import { FindingNotes } from "./finding_note.js";
import { RowFinder } from "./rows.js";
import { capital } from "./words.js";

/** @import { Change } from "../../text/answers.d.ts" */
/** @import { Item } from "../../text/folds.js" */
/** @import { Loaded, Texts, Version } from "./load.js" */
/** @import { Text } from "./rows.js" */

/** @param {{loaded: Loaded, subject: string, split: boolean, whole: boolean, current: Change | null}} props */
export function TextsCard({ loaded, subject, split, whole, current }) {
  const { texts } = loaded;
  return html`<section class=${split ? "card texts split" : "card texts unified"} aria-label="Texts">
    <div class="texts-head">
      <${SideHead} version=${loaded.from} text=${texts?.before} subject=${subject} />
      <${SideHead} version=${loaded.to} text=${texts?.after} subject=${subject} quiet=${
    texts && haveSameLineCount(texts)
  } />
    </div>
    ${
    texts === null ? html`<${TooLarge} loaded=${loaded} />` : html`
      <${Compared} loaded=${loaded} texts=${texts} subject=${subject} split=${split} whole=${whole}
        current=${current} />
    `
  }
  </section>`;
}

/** Whether both stored texts have the same number of lines. @param {Texts} texts */
function haveSameLineCount({ before, after }) {
  return before.bridge.fromLines.count === after.bridge.fromLines.count;
}

/** @param {{version: Version, text?: Text, subject: string, quiet?: boolean}} props */
function SideHead({ version, text, subject, quiet = false }) {
  const lines = text?.bridge.fromLines.count ?? 0;
  const laidOut = text && text.bridge.from !== text.bridge.to;
  return html`<div>
    <a href=${
    href(path`/subjects/${version.subject}/versions/${version.version}`)
  }><b>Version ${version.version}</b></a>
    ${version.subject !== subject && html`<span class="mono s dim cut ends">${version.subject}</span>`}
    ${
    laidOut && !quiet &&
    html`<span class="faint xs">pretty-printed; stored on ${counted(lines, "line")}</span>`
  }
  </div>`;
}

/** @param {{loaded: Loaded}} props */
function TooLarge({ loaded }) {
  const actions = [loaded.from, loaded.to].map((version) =>
    html`<${LinkButton} href=${
      href(path`/subjects/${version.subject}/versions/${version.version}`)
    } key=${version.version}>
      ${capital(`version ${version.version}`)}
    </${LinkButton}>`
  );
  return html`
    <div class="too-large">
      <${Empty} title="The texts are too large or too different to lay side by side" actions=${actions}>
        <p>${loaded.comparison ? "The list of changes is complete. " : ""}Each text has its own page.</p>
        </${Empty}>
        </div>
  `;
}

/**
 * @param {{loaded: Loaded, texts: Texts, subject: string, split: boolean, whole: boolean, current: Change | null}} props
 */
function Compared({ loaded, texts, subject, split, whole, current }) {
  const { comparison } = loaded;
  const { before, after, rows } = texts;
  const [opened, setOpened] = useState(() => new Set(/** @type {number[]} */ ([])));
  const finder = useMemo(() => new RowFinder(rows, before, after), [rows, before, after]);
  const hints = useMemo(() => finder.hints(comparison?.changes ?? []), [finder, comparison]);
  const items = useMemo(() => {
    if (whole) return rows.map((_, index) => /** @type {Item} */ ({ fold: false, index }));
    const scopes = scopesOf(after.layout);
    const kept = new Set([...hints.keys(), ...(comparison?.changes ?? []).map((change) => finder.rowOfChange(change))]);
    return fold(rows, (row) => scopeAt(scopes, row.new), (index) => kept.has(index));
  }, [rows, whole, hints]);
  const row = current ? finder.rowOfChange(current) : -1;
  useEffect(() => {
    if (row >= 0) document.querySelector(`[data-row="${row}"]`)?.scrollIntoView({ block: "center" });
  }, [row, whole, split]);
  /** @param {number} under */
  const notesUnder = (under) => {
    const found = hints.get(under);
    return found && comparison && html`<${FindingNotes} hints=${found} comparison=${comparison} subject=${subject} />`;
  };
  return html`<div class="code" style=${
    numberedUpTo(Math.max(before.lines.count, after.lines.count))
  } onMouseDown=${chooseSide}>
    ${notesUnder(-1)}
    ${rows.every((line) => line.same) && html`<p class="same-texts s dim">The texts are the same, token by token.</p>`}
    <${DiffText}
      rows=${rows}
      items=${items}
      opened=${opened}
      before=${before}
      after=${after}
      split=${split}
      current=${row}
      notesUnder=${notesUnder}
      open=${(/** @type {number} */ from) => setOpened(new Set([...opened, from]))}
    />
  </div>`;
}

/**
 * Keeps a selection in the column in which the selection began, so that a copy has the lines of one side only.
 * @param {MouseEvent} event
 */
function chooseSide(event) {
  const box = /** @type {HTMLElement} */ (event.currentTarget);
  const line = /** @type {Element} */ (event.target).closest(".l.old, .l.new");
  box.dataset.select = line?.classList.contains("old") ? "old" : line ? "new" : "";
}
