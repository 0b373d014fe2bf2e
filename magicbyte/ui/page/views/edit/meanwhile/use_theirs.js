/** Reads the newer version and the draft's base. */
import { ApiError } from "../../../api/client.js";
import * as registry from "../../../api/registry.js";
import { toast } from "../../../parts/toasts.js";
import { useRef, useState } from "../../../vendor/ui.js";
import { draftOf } from "../draft/drafts.js";
import { laidOut } from "../draft/stored_text.js";

/**
 * @import { Draft } from "../draft/drafts.js"
 * @typedef {{draft: Draft, base: Draft}} Theirs  `draft`: the latest version; `base`: the latest version when the draft
 *   began
 */

/**
 * @param {string} subject
 * @param {Draft} began  the version with which the editor opened
 * @returns {{theirs: Theirs | null, show: (base: number) => Promise<void>, close: () => void}}  `show` reads both
 *   versions; a toast shows a failure
 */
export function useTheirs(subject, began) {
  const [theirs, setTheirs] = useState(/** @type {Theirs | null} */ (null));
  const known = useRef(new Map([[began.from, began]]));
  const baseOf = async (/** @type {number} */ version) => {
    const at = known.current.get(version);
    if (at !== undefined) return { ...at, base: version };
    try {
      const stored = await registry.version(subject, version, { deleted: true });
      return draftOf(stored, version, laidOut(stored));
    } catch (error) {
      // The base was purged: use the draft's start as the common text of both sides.
      if (error instanceof ApiError && error.status === 404) return { ...began, base: version };
      throw error;
    }
  };
  const show = async (/** @type {number} */ base) => {
    try {
      const [stored, common] = await Promise.all([registry.version(subject, "latest"), baseOf(base)]);
      const draft = draftOf(stored, stored.version, laidOut(stored));
      known.current.set(stored.version, draft);
      setTheirs({ draft, base: common });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      toast(`The latest version could not be read: ${error.message}`);
    }
  };
  return { theirs, show, close: () => setTheirs(null) };
}
