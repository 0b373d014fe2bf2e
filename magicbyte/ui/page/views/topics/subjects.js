/** The subjects of topics by TopicNameStrategy: `{topic}-key` and `{topic}-value`, in the current context. */
import * as registry from "../../api/registry.js";
import { listingOfNames, listingRow, splitSubject } from "../../listing.js";
import { useRequest } from "../../parts/use_request.js";
import { context, overview } from "../../state.js";
import { useMemo } from "../../vendor/ui.js";

/** @typedef {import("../../types.d.ts").Facts} Facts */

/** The parts of a record. @type {("key" | "value")[]} */
export const PARTS = ["key", "value"];

/**
 * The live subjects of the current context by name; undefined while they are not read.
 * @returns {Map<string, Facts> | undefined}
 */
export function useSubjects() {
  const listing = overview.value;
  const asked = useRequest(listing ? null : (signal) => registry.subjects({ signal }), [
    Boolean(listing),
    context.value,
  ]);
  return useMemo(() => {
    const columns = listing ?? (asked.data && listingOfNames(asked.data));
    if (!columns) return undefined;
    /** @type {Map<string, Facts>} */
    const subjects = new Map();
    columns.subject.forEach((/** @type {string} */ qualified, /** @type {number} */ at) => {
      const { context: of, name } = splitSubject(qualified);
      const row = of === context.value && !columns.deleted[at] ? listingRow(columns, at) : null;
      if (row) subjects.set(name, row);
    });
    return subjects;
  }, [listing, asked.data, context.value]);
}

/**
 * The topic and part that a subject is named for; null if it follows another strategy.
 * @param {string} subject
 * @returns {{topic: string, part: "key" | "value"} | null}
 */
export function topicOf(subject) {
  const match = subject.match(/^(.+)-(key|value)$/s);
  return match && { topic: match[1], part: /** @type {"key" | "value"} */ (match[2]) };
}
