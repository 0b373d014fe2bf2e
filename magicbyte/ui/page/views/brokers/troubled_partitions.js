/** The partitions without a leader, under min.insync.replicas, or under-replicated. */
import { Badge } from "../../parts/badges.js";
import { Card } from "../../parts/cards.js";
import { visibly } from "../../parts/gap.js";
import { Shown } from "../../parts/hostile.js";
import { Empty } from "../../parts/states.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { html } from "../../vendor/ui.js";
import { counted } from "../../text/counted.js";

/** @param {{health: any}} props */
export function TroubledPartitions({ health: { partitions, not_listed_count: more, hidden_count: hidden } }) {
  if (partitions.length === 0 && hidden === 0) {
    return html`
      <${Empty} title=${`No partition${visibly()} is in trouble`}>
        <p>Each has a leader, and all its replicas are in sync.</p>
        </${Empty}>
    `;
  }
  return html`
    <${Card} title="Partitions in trouble" bare>
      <div class="table-scroll">
        <table class="trouble-table">
          <thead>
            <tr>
              <th scope="col">Topic</th>
              <th scope="col" class="r">Partition</th>
              <th scope="col">Trouble</th>
              <th scope="col">Leader</th>
              <th scope="col">Replicas</th>
              <th scope="col">In sync</th>
            </tr>
          </thead>
          <tbody>${partitions.map((/** @type {any} */ row) =>
            html`
              <tr key=${`${row.topic_name} ${row.partition_id}`}>
                <td class="mono anywhere"><a class="link" href=${href(
                  path`/topics/${row.topic_name}`,
                )}><${Shown} name text=${row.topic_name} /></a></td>
                <td class="r num">${row.partition_id}</td>
                <td><span class="row wrap">${row.is_offline && html`<${Badge} tone="bad">✕ no leader</${Badge}>`}
                  ${row.is_under_min_in_sync && html`
                    <${Badge} tone="bad">✕ under min.insync.replicas ${row.min_in_sync_replicas}</${Badge}>
                  `}
                  ${row.is_under_replicated && html`<${Badge} tone="warn">! under-replicated</${Badge}>`}</span></td>
                <td class="num">${row.leader_id ?? html`<span class="faint">none</span>`}</td>
                <td class="num">${row.replica_ids.join(", ")}</td>
                <td class="num">${row.in_sync_ids.join(", ") || html`<span class="faint">none</span>`}</td>
              </tr>
            `
          )}</tbody>
        </table>
      </div>
      ${(more > 0 || hidden > 0) && html`
        <p class="dim s more-trouble">${more > 0 && `${counted(more, "further partition")} not listed. `}${hidden > 0 &&
          `${counted(hidden, "partition")} of topics that you may not see.`}</p>
      `}
    </${Card}>
  `;
}
