/** Counts the changes of a subject's versions while its page is open, so that each change repeats the requests. */

import { useRef } from "../../vendor/ui.js";

/** @import { Facts } from "../../state/types.d.ts" */

/** @param {Facts | null | undefined} facts the subject's row of the listing; its arrival is not a change */
export function useChanges(facts) {
  const seen = useRef({ state: "", changes: 0 });
  const state = facts ? `${facts.version} ${facts.versions}` : "";
  if (state !== "" && state !== seen.current.state) {
    const changes = seen.current.changes + (seen.current.state === "" ? 0 : 1);
    seen.current = { state, changes };
  }
  return seen.current.changes;
}
