/** Why a control of the settings is disabled. */
import { isReadOnly } from "../../state/modes.js";
import { may } from "../../state/signals.js";

/**
 * Returns the reason; empty if the control is enabled. A read-only mode refuses all writes except a change of the mode.
 * @param {string} action  as in `may`
 * @param {string} subject
 * @param {string} mode  the mode in effect
 */
export function writeReason(action, subject, mode) {
  const { reason } = may(action, subject);
  if (reason !== "") return reason;
  return isReadOnly(mode) ? `The mode is ${mode}, which refuses this.` : "";
}
