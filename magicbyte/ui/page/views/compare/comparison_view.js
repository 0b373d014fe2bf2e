/** A loaded comparison: controls, verdicts, changes and texts. */

import { cellFact, gapOf } from "../../api/fact.js";
import { Segmented } from "../../parts/buttons.js";
import { Note, PlainVerdict, VerdictCard } from "../../parts/cards.js";
import { useKeys } from "../../parts/keyboard.js";
import { useMedia } from "../../parts/use_media.js";
import { path } from "../../api/encode_url.js";
import { go, goTo, href, route, setQuery } from "../../state/routes.js";
import { counted } from "../../text/counted.js";
import { html, useMemo } from "../../vendor/ui.js";
import { ChangeList } from "./change_list.js";
import { Picks } from "./picks.js";
import { TextsCard } from "./texts_card.js";
import { verdict } from "./words.js";

/** @import { Facts } from "../../state/types.d.ts" */
/** @import { Comparison } from "../../text/answers.d.ts" */
/** @import { Loaded, Version } from "./load.js" */

/**
 * @param {{loaded: Loaded, subject: string, query: Record<string, string>,
 *   facts: Facts | null | undefined}} props
 */
export function ComparisonView({ loaded, subject, query, facts }) {
  const { comparison } = loaded;
  const narrow = useMedia("(max-width: 760px)");
  const split = query.view !== "unified" && !narrow;
  const changes = comparison?.changes ?? [];
  const [current, choose] = useCurrentChange(changes);
  const level = facts?.level ?? null;
  const settings = facts ? { level: cellFact(facts.level), mode: cellFact(facts.mode) } : null;
  /** @param {number} step */
  const walk = (step) => changes.length > 0 && choose((Math.max(current, 0) + step + changes.length) % changes.length);
  useKeys({
    n: ["next change", () => walk(1)],
    p: ["previous change", () => walk(-1)],
    e: ["propose a version, from the new side", () => go(path`/subjects/${subject}/edit`, { from: loaded.to.version })],
  });
  return html`
    <div class="controls">
          <${Picks} from=${picked(loaded.from, facts)} to=${picked(loaded.to, facts)} query=${query} />
          <span class="grow"></span>
          ${changes.length > 0 && html`<span class="s dim walk num">
        ${Math.max(current, 0) + 1} of ${counted(changes.length, "change")}${" "}
        <button type="button" class="key" onClick=${() => walk(1)} aria-label="Next change"><kbd>n</kbd></button>
        <button type="button" class="key" onClick=${() => walk(-1)} aria-label="Previous change"><kbd>p</kbd></button>
      </span>`}
          ${!narrow && html`
            <${Segmented} label="Layout" value=${split ? "split" : "unified"}
              options=${[["split", "Split"], ["unified", "Unified"]]}
              onChange=${(/** @type {string} */ view) => setQuery({ view: view === "split" ? null : view })} />
          `}
          <${Segmented} label="Lines" value=${query.all ? "all" : "changes"}
            options=${[["changes", "Changes only"], ["all", "Whole text"]]}
            onChange=${(/** @type {string} */ all) => setQuery({ all: all === "all" ? "1" : null })} />
        </div>
    <${Verdicts} loaded=${loaded} level=${level} subject=${subject} />
    <div class=${comparison ? "compared" : "compared texts-only"}>
          ${comparison &&
            html`<${ChangeList} comparison=${comparison} current=${
              Math.max(current, 0)
            } settings=${settings} choose=${choose} />`}
          <${TextsCard} loaded=${loaded} subject=${subject} split=${split} whole=${Boolean(
            query.all,
          )} current=${changes[current] ?? null} />
        </div>
  `;
}

/**
 * @param {Version} version
 * @param {Facts | null | undefined} facts
 */
function picked(version, facts) {
  const latest = facts?.subject === version.subject && facts.version === version.version;
  return {
    subject: version.subject,
    version: version.version,
    id: version.id,
    ts: version.ts ?? null,
    latest,
    deleted: version.deleted === true,
  };
}

/** @param {{loaded: Loaded, level: string | null, subject: string}} props */
function Verdicts({ loaded, level, subject }) {
  const { comparison, refusal, verbose } = loaded;
  if (comparison) {
    return html`
      <div class="verdicts">
        <${VerdictCard} ...${verdict(comparison, "BACKWARD", level, subject)} />
        <${VerdictCard} ...${verdict(comparison, "FORWARD", level, subject)} />
      </div>
    `;
  }
  if (verbose) {
    return html`
      <div class="verdicts">
        <${PlainVerdict} compatible=${verbose.is_compatible} messages=${verbose.messages} />
      </div>
    `;
  }
  return html`
    <div class="verdicts">
      <${Note} tone="warn" who=${gapOf(refusal) === "costly" ? "Too costly to compare" : "No verdict"}>
        ${refusal?.message}
      </${Note}></div>
  `;
}

/**
 * The index of the chosen change, whose path is the address's fragment. -1 without a fragment; then the first change
 * counts as chosen.
 * @param {Comparison["changes"]} changes
 * @returns {[number, (index: number) => void]}
 */
function useCurrentChange(changes) {
  const hash = decoded(route.value.hash);
  const current = useMemo(() => changes.findIndex((change) => change.path === hash), [changes, hash]);
  const choose = (/** @type {number} */ index) => {
    const { path: page, query } = route.peek();
    goTo(href(page, query, { hash: encodeURIComponent(changes[index].path) }), { replace: true, quiet: true });
  };
  return [current, choose];
}

/** @param {string} hash */
function decoded(hash) {
  try {
    return decodeURIComponent(hash);
  } catch {
    return hash;
  }
}
