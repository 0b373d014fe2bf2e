/** A search's progress, the reason why it ended, and how to continue. */
import { Button } from "../../../parts/buttons.js";
import { Empty, Failure, Loading } from "../../../parts/states.js";
import { setQuery } from "../../../state/routes.js";
import { grouped } from "../../../text/grouped.js";
import { html } from "../../../vendor/ui.js";
import { counted } from "../../../text/counted.js";

/** @typedef {ReturnType<typeof import("./use_search.js").useSearch>} Search */

const BAD_REQUEST = 400;

/** @param {{found: Search, isFiltered: boolean}} props */
export function SearchProgress({ found, isFiltered }) {
  const { begin, progress, records, cancel } = found;
  if (!isFiltered && !records.length) {
    return html`<${Loading} rows=${12} height=${34} onCancel=${cancel} />`;
  }
  const total = begin?.total ?? 0;
  const scanned = progress?.scanned ?? 0;
  return html`
    <div class="search-progress row s" role="status">
      <progress max=${Math.max(
        1,
        total,
      )} value=${scanned} aria-label="Searched"></progress>
      <span
        class="num">${grouped(scanned)} of ${counted(
          total,
          "record",
        )} searched, ${grouped(records.length)} found</span>
      <${Button} kind="small" onClick=${cancel}>Cancel</${Button}>
      </div>
  `;
}

/** @param {{error: any, again: () => void}} props */
export const SearchFailure = ({ error, again }) =>
  error.status === BAD_REQUEST
    ? html`<p class="bad-text s message-problem" role="alert">✕ ${error.message}</p>`
    : html`<${Failure} error=${error} again=${again} />`;

/** Why a search ended before the end of the topic. @type {Record<string, string>} */
const REASONS = {
  answer: "The page is full after",
  records: "The search paused at its limit, after",
  bytes: "The search paused at its limit of bytes, after",
  time: "The search paused at its limit of time, after",
};

/**
 * @param {{found: Search, wanted: import("../../../api/messages.js").SearchRequest, query: Record<string, string>,
 *   onGoOn: () => void, onFirst: () => void}} props
 */
export function SearchEnd({ found, wanted, query, onGoOn, onFirst }) {
  const { begin, end, progress, records, cancelled } = found;
  const reason = end?.reason ?? "";
  const isNewestFirst = wanted.order === "newest";
  const searched = counted((end ?? progress)?.scanned ?? 0, "record");
  const hasMore = reason !== "end" && Boolean((end ?? progress)?.cursor);
  if (!records.length && !hasMore && !cancelled) {
    return html`<${NoRecords} wanted=${wanted} query=${query} searched=${searched} />`;
  }
  const words = cancelled
    ? `Cancelled after ${searched}.`
    : REASONS[reason]
    ? `${REASONS[reason]} ${searched}.`
    : wanted.filter
    ? `${grouped(records.length)} found in ${searched}.`
    : `${counted(records.length, "record")} of ${counted(begin?.total ?? 0, "record")}.`;
  const further = wanted.filter ? "Search on" : isNewestFirst ? "Older records" : "Newer records";
  return html`<p class="message-foot dim s num row wrap" data-end=${cancelled ? "cancelled" : reason}>
    <span>${words}${reason === "end" ? isNewestFirst ? " This is the beginning." : " This is the end." : ""}</span>
    ${
    hasMore &&
    html`<${Button} kind="small" onClick=${onGoOn}>${further}</${Button}>`
  }
    ${
    query.cursor &&
    html`<${Button} kind="small quiet" onClick=${onFirst}>First page</${Button}>`
  }
  </p>`;
}

/** @param {{wanted: import("../../../api/messages.js").SearchRequest, query: Record<string, string>, searched: string}} props */
function NoRecords({ wanted, query, searched }) {
  const where = wanted.filter
    ? "fit the filter"
    : query.since
    ? "since that time"
    : query.offset
    ? `from offset ${query.offset} on`
    : wanted.partitions
    ? "in this partition"
    : "in this topic";
  const isNarrow = wanted.filter || query.since || query.until ||
    query.offset || wanted.partitions || query.cursor;
  const all = {
    q: null,
    since: null,
    until: null,
    offset: null,
    partition: null,
    cursor: null,
    order: null,
  };
  return html`<${Empty} title=${`No records ${where}`} actions=${html`<${Button} onClick=${() =>
    setQuery({
      offset: null,
      since: null,
      until: null,
      cursor: null,
      order: null,
      follow: true,
    })}>Follow</${Button}>
    ${isNarrow && html`<${Button} onClick=${() => setQuery(all)}>Newest records</${Button}>`}`}>
    ${wanted.filter && html`<p>${searched} searched.</p>`}
    </${Empty}>`;
}
