/** A draft as a hook; the tab's storage keeps it. */
import { useEffect, useMemo, useRef, useState } from "../../../vendor/ui.js";
import { keepDraft, readDraft } from "./drafts.js";

/** @import { Draft } from "./drafts.js" */

/**
 * The draft; each change is stored in the tab.
 * @param {string} key
 * @param {Draft} began
 * @returns {[Draft, (part: Partial<Draft>) => void, boolean]}  the third value: whether the draft was restored from the
 *   tab
 */
export function useDraft(key, began) {
  const kept = useMemo(() => readDraft(key), [key]);
  const restored = kept !== null && kept.text !== began.text;
  const [draft, setDraft] = useState(restored ? /** @type {Draft} */ (kept) : began);
  const written = useRef(draft);
  const latest = useRef(draft);
  latest.current = draft;
  const keep = () => {
    if (latest.current === written.current) return;
    written.current = latest.current;
    keepDraft(key, latest.current);
  };
  useEffect(() => {
    const timer = setTimeout(keep, 200);
    return () => clearTimeout(timer);
  }, [key, draft]);
  useEffect(() => {
    addEventListener("pagehide", keep);
    return () => {
      removeEventListener("pagehide", keep);
      keep();
    };
  }, [key]);
  return [draft, (part) => setDraft((before) => ({ ...before, ...part })), restored];
}
