/** The list of subjects: one listing call, a search on each key press, a panel for the chosen row. */
import { hasOverview } from "../../api/features.js";
import { listingRow } from "../../state/listing_columns.js";
import { firstRows, listingError, listingHead, needListing, readListing } from "../../state/live_listing.js";
import { useKeys } from "../../parts/keyboard.js";
import { Chip, LinkButton } from "../../parts/buttons.js";
import { Icon } from "../../parts/icon.js";
import { Failure, Loading, NotServed } from "../../parts/states.js";
import { useRights } from "../../parts/use_rights.js";
import { isMissingRoute } from "../../api/transport.js";
import { goTo, href, setQuery } from "../../state/routes.js";
import { matching, sorted } from "../../search/matching.js";
import { readQuery } from "../../search/query.js";
import { useFound } from "../../search/use_found.js";
import { context, may, overview } from "../../state/signals.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../vendor/ui.js";
import { EmptyRegistry } from "./empty_registry.js";
import { ExportMenu } from "./exporting.js";
import { NothingFound } from "./nothing_found.js";
import { Peek } from "./peek.js";
import { RegistrySummary } from "./registry_summary.js";
import { SelectedBar } from "./selected_bar.js";
import { SubjectTable } from "./table.js";
import { useTyped } from "./use_typed.js";
import { subjectHref } from "../../state/subject_href.js";
import { grouped } from "../../text/grouped.js";

/** Resolves when the list has rows to show. */
export const ready = () => firstRows();

/** The parameters of the query that need the whole listing. */
const FILTERS = ["q", "in", "type", "own", "deleted", "sort"];

/** @param {import("../../state/types.d.ts").ViewProps} props */
export default function List({ query }) {
  useEffect(() => {
    needListing();
  }, []);
  useRights();
  const head = listingHead.value;
  const isPlain = !FILTERS.some((name) => query[name]);
  const shown = useRef(false);
  // Keep a visible list: the user may be typing into it.
  shown.current &&= !context.value;
  shown.current ||= Boolean(head?.counts.subjects && isPlain && !context.value);
  const listing = overview.value ?? (shown.current ? head : null);
  if (!listing) {
    return html`<div class="page list-page"><div class="page-head"><h1 tabindex="-1">Subjects</h1></div>
      ${
      listingError.value
        ? html`<${Failure} error=${listingError.value} again=${readListing} />`
        : html`<${Loading} rows=${14} />`
    }</div>`;
  }
  if (listing.subject.length === 0) return html`<${EmptyRegistry} />`;
  return html`<${ListPage} listing=${listing} all=${listing === head ? countsOf(head) : null} query=${query} />`;
}

/**
 * The chips' counts while only the first rows are loaded; they include the rows still to come.
 * @param {NonNullable<typeof listingHead.value>} head
 */
function countsOf({ counts }) {
  const { subjects, deleted, ownLevel, types } = counts;
  const { AVRO = 0, JSON = 0, PROTOBUF = 0 } = types;
  const hidden = subjects - AVRO - JSON - PROTOBUF;
  return { total: subjects, deleted, own: ownLevel, AVRO, JSON, PROTOBUF, hidden };
}

/**
 * @param {{listing: import("../../api/types.d.ts").Overview, all: ReturnType<typeof countsOf> | null,
 *   query: Record<string, string>}} props `all`: the chips' counts if the listing has only the first rows
 */
function ListPage({ listing, all, query }) {
  const [typed, setTyped, writeTyped] = useTyped(query.q ?? "");
  const [selected, setSelected] = useState(/** @type {Set<string>} */ (new Set()));
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const place = query.in ?? "names";
  const { type = "", sort = "", peek = "" } = query;
  const [own, deleted] = [query.own === "true", query.deleted === "true"];

  const started = performance.now();
  const read = useMemo(() => readQuery(typed), [typed]);
  const found = useFound(read, place, deleted);
  const { rows: unsorted, counts: counted } = useMemo(
    () => matching(listing, read, context.value, { type, own, deleted }, found.among, found.holders),
    [listing, read, context.value, type, own, deleted, found.among, found.holders],
  );
  const counts = { ...counted, ...all };
  const rows = useMemo(() => sorted(listing, unsorted, sort), [unsorted, sort]);
  const ms = useTiming(started, typed);

  const at = rows.findIndex((row) => listing.subject[row] === peek);
  const facts = peek ? listingRow(listing, listing.subject.indexOf(peek)) : null;
  const setPeek = (/** @type {string} */ subject) => {
    writeTyped();
    setQuery({ peek: subject || null });
  };
  const walk = (/** @type {number} */ step) => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step))];
    if (next !== undefined) setPeek(listing.subject[next]);
  };
  const open = () => {
    const chosen = facts ?? (typed && rows.length > 0 ? listingRow(listing, rows[0]) : null);
    if (!chosen) return;
    writeTyped();
    goTo(subjectHref(chosen));
  };
  const pick = () => {
    if (!peek) return;
    const next = new Set(selected);
    if (!next.delete(peek)) next.add(peek);
    setSelected(next);
  };
  const clear = () => peek ? setPeek("") : typed ? setTyped("") : input.current?.blur();
  useKeys({
    "/": ["Search", () => input.current?.focus()],
    j: ["Next row", () => walk(1)],
    k: ["Row before", () => walk(-1)],
    Enter: ["Open the row", open],
    x: ["Select the row", pick],
    Escape: ["Close the panel, clear the search", clear],
    ArrowDown: () => walk(1),
    ArrowUp: () => walk(-1),
  }, { scope: "Subjects" });
  const inInput = (/** @type {KeyboardEvent} */ event) => {
    const act =
      /** @type {Record<string, () => void>} */ ({ ArrowDown: () => walk(1), ArrowUp: () => walk(-1), Enter: open })[
        event.key
      ];
    if (!act) return;
    event.preventDefault();
    act();
  };
  const words = place === "names" ? read.words : [];
  const total = grouped(counts.total);
  const filtered = typed || type || own || deleted;
  const waits = all && (filtered || place !== "names" || sort);

  return html`
    <div class="with-peek ${facts ? "peeking" : ""}">
      <div class="page list-page" onPointerDown=${writeTyped}>
        <div class="page-head">
          <h1 tabindex="-1">Subjects</h1>
          <span class="faint num count" role="status">${filtered && !all
            ? `${grouped(rows.length)} of ${total}`
            : total}</span>
          <span class="grow"></span>
          ${hasOverview() &&
            html`<${ExportMenu} listing=${listing} rows=${rows} filtered=${Boolean(filtered && !all)} />`}
          <${LinkButton} kind="primary" href=${href("/new")} reason=${may("register").reason}>New schema</${LinkButton}>
          </div>
          <div class="box">
            <${Icon} name="search" size=${15} />
            <input ref=${input} type="search" aria-label="Search subjects" placeholder="Subject, id, guid, or field: type: text: level: tag:"
              autocomplete="off" spellcheck=${false} value=${typed} onKeyDown=${inInput}
              onInput=${(/** @type {any} */ event) => setTyped(event.currentTarget.value)} />
            ${typed && html`
              <span class="xs faint num ms" aria-hidden="true">${ms} ms</span>
              <button type="button" class="clear" aria-label="Clear the search" onClick=${() => (setTyped(""),
                input.current?.focus())}><kbd>Esc</kbd></button>
            `}
          </div>
          <div class="chips" role="group" aria-label="Filters">
            ${hasOverview() &&
              html`${
                [["names", "In names"], ["fields", "In fields"], ["texts", "In texts"]].map(([name, label]) =>
                  html`
                    <${Chip} key=${name}
                      pressed=${place === name} count=${name === "names" ? null : found.totals[name]}
                      late=${name !== "names" && read.words.length > 0} onClick=${() =>
                        setQuery({ in: name === "names" ? null : name })}>${label}</${Chip}>
                  `
                )
              }
            <span class="gap"></span>
            ${
                [["AVRO", "Avro", counts.AVRO], ["JSON", "JSON Schema", counts.JSON], [
                  "PROTOBUF",
                  "Protobuf",
                  counts.PROTOBUF,
                ]].map(([name, label, count]) =>
                  html`
                    <${Chip}
                      key=${name} pressed=${type === name} count=${count} onClick=${() =>
                        setQuery({ type: type === name ? null : name })}>${label}</${Chip}>
                  `
                )
              }
            ${
                counts.hidden > 0 &&
                html`<span class="faint xs num" data-gap="forbidden">${counts.hidden} that you may not read</span>`
              }
            <span class="gap"></span>
            <${Chip} pressed=${own} count=${counts.own} onClick=${() => setQuery({ own: !own })}>Own level</${Chip}>`}
            <${Chip} pressed=${deleted} count=${counts.deleted} onClick=${() =>
              setQuery({ deleted: !deleted })}>Deleted</${Chip}>
          </div>
          ${(found.loading && !found.among && !found.holders && rows.length === 0) || waits
            ? html`<${Loading} rows=${8} />`
            : isMissingRoute(found.error)
            ? html`<${NotServed} />`
            : found.error
            ? html`<${Failure} error=${found.error} again=${found.reload} />`
            : rows.length === 0
            ? html`
              <${NothingFound} listing=${listing} read=${read} place=${place} found=${found} counts=${counts}
                filters=${{ type, own, deleted }} />
            `
            : html`
              <${SubjectTable} listing=${listing} rows=${rows} count=${all?.total ??
                rows.length} words=${words} sort=${sort} peek=${peek}
                selected=${selected}
                excerpts=${found.excerpts} onSort=${(/** @type {string} */ next) =>
                  setQuery({ sort: next === "name" ? null : next })} onPeek=${setPeek} />
            `}
          <${SelectedBar} listing=${listing} selected=${selected} onClear=${() => setSelected(new Set())} />
        </div>
        ${facts
          ? html`<${Peek} key=${peek} facts=${facts} selected=${selected.has(peek)} onSelect=${pick} onClose=${() =>
            setPeek("")} />`
          : html`
            <aside class="peek idle" aria-label="The registry in brief">
              ${!all && html`<${RegistrySummary} listing=${listing} />`}
            </aside>
          `}
      </div>
  `;
}

/**
 * The time from the start of a render to its rows, after a key press.
 * @param {number} started
 * @param {string} typed
 */
function useTiming(started, typed) {
  const [ms, setMs] = useState(0);
  useLayoutEffect(() => setMs(Math.max(1, Math.round(performance.now() - started))), [typed]);
  return ms;
}
