/** Records below each other; one of them may be open. */
import { setQuery } from "../../../state/routes.js";
import { html, useEffect, useRef } from "../../../vendor/ui.js";
import { RecordRow } from "./record.js";

/** @typedef {import("./record.js").DecodedRecord} DecodedRecord */

/** @param {{topic: string, records: DecodedRecord[], query: Record<string, string>}} props */
export function RecordList({ topic, records, query }) {
  const list = useRef(/** @type {any} */ (null));
  const opened = query.open ?? "";
  useEffect(() => {
    if (opened) list.current?.querySelector(".record.open")?.scrollIntoView({ block: "nearest" });
  }, []);
  if (records.length === 0) return null;
  return html`<ol class="records card" ref=${list}>${
    records.map((record) =>
      html`
        <${RecordRow} key=${record.offset} record=${record} topic=${topic} open=${opened === String(record.offset)}
          onToggle=${() =>
            setQuery({ partition: record.partition, open: opened === String(record.offset) ? null : record.offset })} />
      `
    )
  }</ol>`;
}
