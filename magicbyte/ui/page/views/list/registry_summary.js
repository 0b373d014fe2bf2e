/** The panel's content while no row is chosen: the number of subjects, and those that changed last. */
import { hasOverview } from "../../api/features.js";
import { Shown } from "../../parts/hostile.js";
import { namesOf } from "../../search/matching.js";
import { listingRow } from "../../state/listing_columns.js";
import { context } from "../../state/signals.js";
import { subjectHref } from "../../state/subject_href.js";
import { counted } from "../../text/counted.js";
import { html, useMemo } from "../../vendor/ui.js";

const MOST_NEWEST = 8;

/** @param {{listing: import("../../api/types.d.ts").Overview}} props */
export function RegistrySummary({ listing }) {
  const names = namesOf(listing);
  const { count, versions, newest } = useMemo(() => summary(listing, context.value), [listing, context.value]);
  return html`
    <h2>${context.value ? `Context ${context.value}` : "This registry"}</h2>
    <p class="dim s num">${counted(count, "subject")}${hasOverview() &&
      `, ${counted(versions, "version")}`}</p>
    ${hasOverview() && html`<section class="peek-part"><h3>Changed last</h3>
          ${
      newest.map((at) => {
        const facts = listingRow(listing, at);
        return facts && html`
          <a class="fld" key=${facts.subject}
            href=${subjectHref(facts)}><span class="mono anywhere"><${Shown} text=${names
              .name[at]} /></span><span class="dim num">v${facts.version}</span></a>
        `;
      })
    }
        </section>`}
    <p
      class="xs faint hint"><kbd>j</kbd> <kbd>k</kbd> or a click on a row shows its fields here. <kbd>?</kbd> shows all keys.</p>
  `;
}

/**
 * The live subjects of a context: their number, their versions, and the rows that changed last.
 * @param {import("../../api/types.d.ts").Overview} listing
 * @param {string} inContext
 */
function summary(listing, inContext) {
  const names = namesOf(listing);
  /** @type {number[]} */
  const newest = [];
  let [count, versions] = [0, 0];
  for (let at = 0; at < listing.subject.length; at++) {
    if (names.context[at] !== inContext || listing.deleted[at]) continue;
    count++;
    versions += listing.versions[at] ?? 0;
    // Insert instead of sorting: a sort of all rows would delay the first paint.
    const time = listing.ts[at] ?? 0;
    let place = newest.length;
    while (place > 0 && time > (listing.ts[newest[place - 1]] ?? 0)) place--;
    if (place < MOST_NEWEST) newest.splice(place, 0, at);
    if (newest.length > MOST_NEWEST) newest.pop();
  }
  return { count, versions, newest };
}
