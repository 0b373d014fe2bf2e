/** Why a control of the settings may not be used. */
import { may } from "../../state/signals.js";

const READ_ONLY = new Set(["READONLY", "READONLY_OVERRIDE"]);

/**
 * Returns the reason, empty if the control may be used. The mode refuses all writes but that of the mode.
 * @param {string} action  as in `may`
 * @param {string} subject
 * @param {string} mode  the mode in effect
 */
export function writeReason(action, subject, mode) {
  const { reason } = may(action, subject);
  if (reason !== "") return reason;
  return READ_ONLY.has(mode) ? `The mode is ${mode}, which refuses this.` : "";
}
