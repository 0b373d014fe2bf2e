/** The subjects of topics by TopicNameStrategy: `{topic}-key` and `{topic}-value`, in the current context. */
import { splitSubject } from "../../text/split_subject.js";
import { listingRow } from "../../state/listing_columns.js";
import { needListing } from "../../state/live_listing.js";
import { context, overview } from "../../state/signals.js";
import { useEffect, useMemo } from "../../vendor/ui.js";

/** @typedef {import("../../state/types.d.ts").Facts} Facts */

/** The parts of a record. @type {("key" | "value")[]} */
export const PARTS = ["key", "value"];

/**
 * The live subjects of the current context by name, from the listing; undefined until the listing has loaded.
 * @returns {Map<string, Facts> | undefined}
 */
export function useSubjects() {
  const listing = overview.value;
  useEffect(() => {
    needListing();
  }, []);
  return useMemo(() => {
    if (!listing) return undefined;
    /** @type {Map<string, Facts>} */
    const subjects = new Map();
    listing.subject.forEach((qualified, at) => {
      const { context: of, name } = splitSubject(qualified);
      const row = of === context.value && !listing.deleted[at] ? listingRow(listing, at) : null;
      if (row) subjects.set(name, row);
    });
    return subjects;
  }, [listing, context.value]);
}

/**
 * The topic and part that a subject's name stands for; null if the subject follows another strategy.
 * @param {string} subject
 * @returns {{topic: string, part: "key" | "value"} | null}
 */
export function topicOf(subject) {
  const match = subject.match(/^(.+)-(key|value)$/s);
  return match && { topic: match[1], part: /** @type {"key" | "value"} */ (match[2]) };
}
