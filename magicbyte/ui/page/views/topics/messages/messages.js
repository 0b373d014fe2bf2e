/** Messages of all partitions of a topic, merged by time: a page of matches of a filter, or live messages. */
import * as rest from "../../../api/rest.js";
import { LinkButton } from "../../../parts/buttons.js";
import { useKeys } from "../../../parts/keyboard.js";
import { path } from "../../../api/encode_url.js";
import { href, setQuery } from "../../../state/routes.js";
import { config, context, may } from "../../../state/signals.js";
import { html, useState } from "../../../vendor/ui.js";
import { BrokerStrip, FromBroker, NoProxy, useBroker } from "../../kafka/broker.js";
import { TopicHead } from "../topic_head.js";
import { FilterForm } from "./filter_form.js";
import { LiveRecords } from "./live_records.js";
import { MessageBar } from "./message_bar.js";
import { RecordList } from "./record_list.js";
import { SearchEnd, SearchFailure, SearchProgress } from "./search_state.js";
import { useSearch } from "./use_search.js";
import { searchRequest } from "./search_request.js";

/** @typedef {import("../../../api/messages.js").SearchRequest} SearchRequest */
/** @typedef {Record<string, number>} Ends the next offset by partition */

/** @param {import("../../../state/types.d.ts").ViewProps} props */
export default function MessagesPage({ params: { topic }, query }) {
  const bounds = useBroker((signal) => rest.partitions(topic, { signal }), [
    topic,
    query.follow ?? "",
  ]);
  const [ends, setEnds] = useState(/** @type {Ends} */ ({}));
  // Include the records that arrived in live mode.
  const partitions = bounds.data?.map((/** @type {rest.Partition} */ row) => ({
    ...row,
    end: Math.max(row.end, ends[row.partition] ?? 0),
  }));
  const actions = html`
    <${LinkButton} kind="primary" href=${href(path`/topics/${topic}/produce`)}
      reason=${may("produce").reason}>Produce</${LinkButton}>
  `;
  return html`
    <${TopicHead} topic=${topic} tab="messages" partitions=${partitions}
      actions=${config.value.restAvailable &&
        actions} />
    <${BrokerStrip} request=${bounds} />
    <div class="page messages">
          ${config.value.restAvailable
            ? html`<${FromBroker} request=${bounds} rows=${12}>${(
              /** @type {rest.Partition[]} */ partitions,
            ) =>
              html`
                <${Messages} topic=${topic} partitions=${partitions} query=${query}
                  onEnds=${setEnds} />
              `}</${FromBroker}>`
            : html`<${NoProxy} topic=${topic} />`}
        </div>
  `;
}

/** @param {{topic: string, partitions: rest.Partition[], query: Record<string, string>, onEnds: (ends: Ends) => void}} props */
function Messages({ topic, partitions, query, onEnds }) {
  const wanted = searchRequest(topic, query, context.value);
  return html`
    <${MessageBar} partitions=${partitions} query=${query} wanted=${wanted} />
    <${FilterForm} query=${query} />
    ${query.follow === "true"
      ? html`
        <${LiveRecords} key=${JSON.stringify(
          wanted,
        )} wanted=${wanted} query=${query}
          onEnds=${onEnds} />
      `
      : html`<${SearchedRecords} wanted=${wanted} query=${query} />`}
  `;
}

/** The results of a search. @param {{wanted: SearchRequest, query: Record<string, string>}} props */
function SearchedRecords({ wanted, query }) {
  const found = useSearch(wanted);
  const { end, error, records } = found;
  const goOn = () => {
    const cursor = (end ?? found.progress)?.cursor;
    if (cursor && end?.reason !== "end") {
      setQuery({ cursor, open: null }, { replace: false });
    }
  };
  const first = () => query.cursor && setQuery({ cursor: null, open: null }, { replace: false });
  useKeys({
    "[": ["First page of records", first],
    "]": ["Further records", goOn],
  }, { scope: "Messages" });
  return html`
    ${found.running &&
      html`<${SearchProgress} found=${found} isFiltered=${Boolean(wanted.filter)} />`}
    ${error && html`<${SearchFailure} error=${error} again=${found.again} />`}
    <${RecordList} wanted=${wanted} records=${records} query=${query} />
    ${!found.running && !error &&
      html`
        <${SearchEnd} found=${found} wanted=${wanted} query=${query}
          onGoOn=${goOn} onFirst=${first} />
      `}
  `;
}
