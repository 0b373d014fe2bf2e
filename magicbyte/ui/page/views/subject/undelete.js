/** Restores soft-deleted versions. */

import * as registry from "../../api/registry.js";
import { Button } from "../../parts/buttons.js";
import { toast } from "../../parts/toasts.js";
import { may } from "../../state/signals.js";
import { html } from "../../vendor/ui.js";

/**
 * @param {string} subject
 * @param {() => void} done called after a version is restored
 */
export function useUndelete(subject, done) {
  /** @param {number} version */
  const undelete = async (version) => {
    try {
      await registry.undelete(subject, version);
      toast(`Version ${version} of ${subject} is live again.`);
      done();
    } catch (error) {
      toast(/** @type {Error} */ (error).message);
    }
  };
  return {
    /** @param {number} version @param {string} [kind] */
    button: (version, kind = "") =>
      html`<${Button} kind=${kind} reason=${may("undelete", subject).reason} onClick=${() =>
        undelete(version)}>Undelete</${Button}>`,
  };
}
