/** Counts how often a subject's versions changed while its page is open, so that requests are sent again then. */

import { useRef } from "../../vendor/ui.js";

/** @import { Facts } from "../../state/types.d.ts" */

/** @param {Facts | null | undefined} facts what the listing knows; its arrival is no change */
export function useChanges(facts) {
  const seen = useRef({ state: "", changes: 0 });
  const state = facts ? `${facts.version} ${facts.versions}` : "";
  if (state !== "" && state !== seen.current.state) {
    const changes = seen.current.changes + (seen.current.state === "" ? 0 : 1);
    seen.current = { state, changes };
  }
  return seen.current.changes;
}
