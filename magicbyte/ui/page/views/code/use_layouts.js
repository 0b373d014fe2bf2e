/** The stored and the pretty layout of a text as a hook. The layouts of a long text come later, from a worker. */

import { isSmall, layOut, layOutSmall } from "../../text/in_worker.js";
import { useEffect, useMemo, useState } from "../../vendor/ui.js";

/** @import { Layouts } from "../../text/in_worker.js" */
/** @import { SchemaType } from "../../text/pretty.js" */
/** @typedef {{text: string, type: SchemaType, layouts: Layouts | null, error: any}} Late */

/**
 * @param {string} text
 * @param {SchemaType} type
 * @returns {{layouts: Layouts | null, error: any}} `layouts` is null until both are ready
 */
export function useLayouts(text, type) {
  const small = useMemo(() => isSmall(text) ? layOutSmall({ text, type }) : null, [text, type]);
  const [late, setLate] = useState(/** @type {Late | null} */ (null));
  useEffect(() => {
    if (small) return;
    const stop = new AbortController();
    layOut({ text, type }, stop.signal).then(
      (layouts) => stop.signal.aborted || setLate({ text, type, layouts, error: null }),
      (error) => stop.signal.aborted || setLate({ text, type, layouts: null, error }),
    );
    return () => stop.abort();
  }, [text, type]);
  if (small) return { layouts: small, error: null };
  return late?.text === text && late.type === type ? late : { layouts: null, error: null };
}
