/** The message of a search without rows: links to the same search in other places, with counts. */
import { Button } from "../../parts/buttons.js";
import { visibly } from "../../parts/gap.js";
import { Shown } from "../../parts/hostile.js";
import { setQuery } from "../../state/routes.js";
import { matching } from "../../search/matching.js";
import { context } from "../../state/signals.js";
import { html } from "../../vendor/ui.js";
import { grouped } from "../../text/grouped.js";

/** @param {{listing: any, read: import("../../search/query.js").SearchQuery, place: string, found: any, counts: any, filters: {type: string, own: boolean, deleted: boolean}}} props */
export function NothingFound({ listing, read, place, found, counts, filters }) {
  const { type, own, deleted } = filters;
  const unfiltered = type || own
    ? matching(listing, read, context.value, { deleted }, found.among, found.holders).counts.all
    : 0;
  const gone = deleted
    ? matching(listing, read, context.value, { type, own }, found.among, found.holders).counts.all
    : counts.deleted;
  /** @type {[string, number | null, Record<string, any>][]} */
  const ways = [];
  if (unfiltered) ways.push(["Of all types and levels", unfiltered, { type: null, own: null }]);
  if (place === "names") {
    ways.push(["In fields", found.totals.fields, { in: "fields" }], ["In texts", found.totals.texts, { in: "texts" }]);
  } else ways.push(["In names", null, { in: null }]);
  if (gone) ways.push([deleted ? "Not deleted" : "Deleted", gone, { deleted: deleted ? null : true }]);
  const words = read.words.join(" ");
  return html`<div class="state">
    <h2>Nothing${visibly()} ${
    words
      ? html`has <span class="mono"><${Shown} text=${words} /></span> ${
        { fields: "in a field", texts: "in its text" }[place] ?? "in its name"
      }`
      : "fits"
  }</h2>
    ${
    counts.elsewhere > 0 &&
    html`<p>Other contexts have ${
      grouped(counts.elsewhere)
    }: choose one in the bar, or search with <span class="mono">context:</span></p>`
  }
    <div class="row">${
    ways.filter(([, count]) => count !== 0).map(([label, count, patch]) =>
      html`<${Button} key=${label} onClick=${() => setQuery(patch)}>${label}${
        count !== null && html`
          <b class="num">${grouped(count)}</b>
        `
      }</${Button}>`
    )
  }</div>
  </div>`;
}
