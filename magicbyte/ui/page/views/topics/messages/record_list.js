/** A list of records; one of them may be open. */
import { setQuery } from "../../../state/routes.js";
import { html, useEffect, useRef } from "../../../vendor/ui.js";
import { RecordRow } from "./record.js";

/** @typedef {import("../../../api/messages.js").FoundRecord} FoundRecord */

/** @param {{wanted: import("../../../api/messages.js").SearchRequest, records: FoundRecord[], query: Record<string, string>}} props */
export function RecordList({ wanted, records, query }) {
  const list = useRef(/** @type {any} */ (null));
  // `open=0-42`; an offset alone means the first record with this offset.
  const opened = records.find(({ partition, offset }) =>
    query.open === `${partition}-${offset}` || query.open === String(offset)
  );
  useEffect(() => {
    if (opened) {
      list.current?.querySelector(".record.open")?.scrollIntoView({
        block: "nearest",
      });
    }
  }, [opened === undefined]);
  if (records.length === 0) return null;
  return html`
    <h2 class="hidden-text">Records</h2>
    <ol class="records card" ref=${list}>${records.map((record) => {
      const name = `${record.partition}-${record.offset}`;
      return html`
        <${RecordRow} key=${name} record=${record} wanted=${wanted}
          query=${query} open=${record === opened}
          onToggle=${() => setQuery({ open: record === opened ? null : name })} />
      `;
    })}</ol>
  `;
}
