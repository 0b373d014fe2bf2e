/** The table of subjects: only the rows near the window are in the document. */
import { hasOverview } from "../../api/features.js";
import { cellFact } from "../../api/fact.js";
import { splitSubject } from "../../text/split_subject.js";
import { listingRow } from "../../state/listing_columns.js";
import { TypeBadge } from "../../parts/badges.js";
import { GapWords } from "../../parts/gap.js";
import { beforeEnd, isCut, widthOf } from "../../parts/truncated_name.js";
import { Shown } from "../../parts/hostile.js";
import { Icon } from "../../parts/icon.js";
import { Time } from "../../parts/times.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { marked } from "../../search/query.js";
import { originWords } from "../../text/phrases.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/ui.js";

const ROW = 38;
const AROUND = 12;

/** Name in the URL, label, class. @type {[string, string, string][]} */
const COLUMNS = [
  ["name", "Subject", ""],
  ["type", "Type", "c-type"],
  ["versions", "Versions", "c-versions r"],
  ["level", "Compatibility", "c-level"],
  ["changed", "Changed", "c-changed r"],
];

/**
 * @param {{listing: import("../../api/types.d.ts").Overview, rows: number[], count: number, words: string[], sort: string,
 *   peek: string, selected: Set<string>, excerpts: Map<string, {text: string, hash: string, version?: number}>,
 *   onSort: (sort: string) => void, onPeek: (subject: string) => void}} props `count`: the number of rows once all are
 *   loaded;
 *   `excerpts`: the match of a search and its position, by subject
 */
export function SubjectTable({ listing, rows, count, words, sort, peek, selected, excerpts, onSort, onPeek }) {
  const body = useRef(/** @type {HTMLElement | null} */ (null));
  const [first, end] = useWindow(body, count);
  const at = rows.findIndex((row) => listing.subject[row] === peek);
  useKeepInSight(body, at);
  const shown = rows.slice(first, end);
  const after = count - first - shown.length;
  return html`
    <table class="subjects" aria-rowcount=${count + 1}>
      <caption class="hidden-text">Subjects</caption>
      <thead>
        <tr aria-rowindex="1">
          ${(hasOverview() ? COLUMNS : COLUMNS.slice(0, 1)).map(([name, label, more]) =>
            html`<${Heading} key=${name} name=${name} label=${label} more=${more} sort=${sort} onSort=${onSort} />`
          )}
        </tr>
      </thead>
      <tbody ref=${body}>
          ${first > 0 && html`<${SpacerRow} key="before" rows=${first} />`}
          ${shown.map((row, i) =>
            html`
              <${Row} key=${listing.subject[row]} facts=${listingRow(listing, row)} index=${first + i + 2}
                words=${words} on=${listing.subject[row] === peek} selected=${selected.has(listing.subject[row])}
                excerpt=${excerpts.get(listing.subject[row])} onPeek=${onPeek} />
            `
          )}
          ${after > 0 && html`<${SpacerRow} key="after" rows=${after} />`}
        </tbody>
    </table>
  `;
}

/**
 * A spacer for rows that are not in the document. It has one cell: small screens hide some columns, and a cell across
 * all columns would add space for the hidden ones again.
 * @param {{rows: number}} props
 */
const SpacerRow = ({ rows }) =>
  html`
    <tr aria-hidden="true" class="space">
      <td style=${{ height: rows * ROW + "px" }}></td>
    </tr>
  `;

/** @param {{name: string, label: string, more: string, sort: string, onSort: (sort: string) => void}} props */
function Heading({ name, label, more, sort, onSort }) {
  const [column, turned] = sort.startsWith("-") ? [sort.slice(1), true] : [sort || "name", false];
  const here = column === name;
  // Sort times and counts in descending order first.
  const first = name === "changed" || name === "versions" ? "-" + name : name;
  const other = first === name ? "-" + name : name;
  const next = here ? ((turned ? "-" : "") + name === first ? other : first) : first;
  return html`
    <th scope="col" class=${more} aria-sort=${here ? (turned ? "descending" : "ascending") : undefined}>
      <button type="button" class="sort" onClick=${() => onSort(next)}>${label}${here &&
        html`<${Icon} name=${turned ? "down" : "up"} size=${11} />`}</button>
    </th>
  `;
}

/** @param {any} props */
function Row({ facts, index, words, on, selected, excerpt, onPeek }) {
  const { context, name } = splitSubject(facts.subject);
  const press = (/** @type {any} */ event) => event.target.closest("a") || onPeek(facts.subject);
  const address = href(path`/subjects/${name}/versions/${excerpt?.version || facts.version || "latest"}`, {}, {
    context,
    hash: excerpt?.hash,
  });
  return html`
    <tr aria-rowindex=${index} class="${on ? "on" : ""} ${facts.deleted ? "gone" : ""}" onClick=${press}>
      <td class="name">${selected &&
        html`<span class="picked"><${Icon} name="check" size=${12} /><span class="hidden-text">selected </span></span>`}<a
          class="mono" aria-label=${isCut(name) ? name : undefined} href=${address} data-key=${facts
            .subject}><${SubjectName} parts=${marked(
              name,
              words,
            )} /></a>${facts.deleted && html`
            <span class="badge bad">deleted</span>
          `}${excerpt?.text && html`
            <span class="mono faint xs"><${Shown} text=${excerpt.text} /></span>
          `}</td>
      ${hasOverview() && html`
        <td class="c-type">${facts.type
          ? html`<${TypeBadge} type=${facts.type} />`
          : html`<${GapWords} fact=${cellFact(facts.type)} brief />`}</td>
        <td class="c-versions r num">${facts.deleted ? facts.deletedVersions : facts.versions}</td>
        <td class="c-level">${facts.level === null
          ? html`<${GapWords} fact=${cellFact(facts.level)} />`
          : html`<span class="mono level ${facts.ownLevel ? "" : "faint"}">${facts.level}</span>${
            facts.ownLevel && html`
              <span class="faint xs">${originWords("subject")}</span>
            `
          }`}</td>
        <td class="c-changed r faint">${facts.ts && html`<${Time} ms=${facts.ts} />`}</td>
      `}
    </tr>
  `;
}

/**
 * A name with the matches of a search; its end stays visible.
 * @param {{parts: import("../../parts/truncated_name.js").Part[]}} props
 */
function SubjectName({ parts }) {
  const [before, end] = beforeEnd(parts);
  const all = [...before, ...end];
  const show = (/** @type {typeof parts} */ some) =>
    some.map((part) => {
      const edges = { start: part === all[0], end: part === all.at(-1) };
      return part.hit
        ? html`<mark><${Shown} text=${part.text} ...${edges} /></mark>`
        : html`<${Shown} text=${part.text} ...${edges} />`;
    });
  if (end.length === 0) return show(before);
  return html`<span class="cut-name" style=${{ "--end": widthOf(end) + "ch" }}>${show(before)}</span>${show(end)}`;
}

/**
 * The range of rows near the window.
 * @param {import("../../vendor/ui.js").Ref<HTMLElement | null>} body
 * @param {number} count
 * @returns {[number, number]}
 */
function useWindow(body, count) {
  const [first, setFirst] = useState(0);
  // Render only the visible rows at first, so that they appear sooner.
  const [around, setAround] = useState(0);
  const [height, setHeight] = useState(globalThis.innerHeight ?? 800);
  useEffect(() => {
    let frame = 0;
    const measure = () => {
      frame = 0;
      const top = body.current?.getBoundingClientRect().top ?? 0;
      // Move in steps of six rows, so that most frames change nothing.
      setFirst(Math.max(0, Math.floor(-top / ROW / 6) * 6 - AROUND));
      setHeight(innerHeight);
      setAround(AROUND);
    };
    const later = () => {
      frame ||= requestAnimationFrame(measure);
    };
    addEventListener("scroll", later, { passive: true });
    addEventListener("resize", later);
    // Measure after the frame with the first rows.
    frame = requestAnimationFrame(() => frame = requestAnimationFrame(measure));
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener("scroll", later);
      removeEventListener("resize", later);
    };
  }, [count]);
  const size = Math.ceil(height / ROW) + 2 * around + 6;
  const start = Math.min(first, Math.max(0, count - size));
  return [start, Math.min(count, start + size)];
}

/**
 * Scrolls just far enough to make the row visible.
 * @param {import("../../vendor/ui.js").Ref<HTMLElement | null>} body
 * @param {number} at
 */
function useKeepInSight(body, at) {
  const before = useRef(at);
  useLayoutEffect(() => {
    if (at < 0 || at === before.current) return;
    before.current = at;
    const top = (body.current?.getBoundingClientRect().top ?? 0) + at * ROW;
    const [low, high] = [110, innerHeight - ROW - 12];
    if (top < low) scrollBy(0, top - low);
    else if (top > high) scrollBy(0, top - high);
  }, [at]);
}
