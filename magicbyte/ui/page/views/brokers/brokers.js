/** The health of the cluster: brokers, controller, racks, shares of the partitions, troubled partitions, disks. */
import * as admin from "../../api/admin.js";
import { Badge } from "../../parts/badges.js";
import { Card } from "../../parts/cards.js";
import { config } from "../../state/signals.js";
import { grouped } from "../../text/grouped.js";
import { html } from "../../vendor/ui.js";
import { BrokerStrip, FromBroker, NoProxy, useBroker } from "../kafka/broker.js";
import { counted } from "../../text/counted.js";
import { Refreshing } from "../kafka/refreshing.js";
import { KafkaHead, NeedsV3 } from "../kafka/kafka_head.js";
import { Refused } from "../kafka/kafka_rights.js";
import { BrokerTable } from "./broker_table.js";
import { TroubledPartitions } from "./troubled_partitions.js";

export default function BrokersPage() {
  const request = useBroker((signal) => admin.health({ signal }), ["health"]);
  const { data, error } = request;
  return html`
    <${BrokerStrip} request=${request} />
    <div class="page brokers">
      <${KafkaHead} at="/brokers" aside=${data && grouped(data.brokers.length)}>
        ${data && html`<${Refreshing} request=${request} />`}
      </${KafkaHead}>
      ${!config.value.restAvailable
        ? html`<${NoProxy} />`
        : error?.status === 403
        ? html`<${Refused} error=${error} action="describeCluster" />`
        : html`<${FromBroker} request=${request} rows=${8}>${(/** @type {any} */ health) =>
          health ? html`<${Health} health=${health} />` : html`<${NeedsV3} what="brokers" />`}</${FromBroker}>`}
    </div>
  `;
}

/** @param {{health: any}} props */
function Health({ health }) {
  const tells = health.partitions_count !== undefined;
  return html`
    <div class="stack">
      ${tells ? html`<${ClusterFigures} health=${health} />` : html`
        <p class="dim s">This REST proxy does not tell which broker has which partitions.</p>
      `}
      <${BrokerTable} brokers=${health.brokers} controller=${health.controller_id ?? null} tells=${tells} />
      ${tells && html`<${TroubledPartitions} health=${health} />`}
    </div>
  `;
}

/** @param {{health: any}} props */
function ClusterFigures({ health }) {
  const gone = health.brokers.filter((/** @type {any} */ broker) => !broker.is_online).length;
  /** @type {[string, number, "bad" | "warn"][]} label, count, severity */
  const troubles = [
    ["Brokers that are gone", gone, "bad"],
    ["Partitions without a leader", health.offline_count, "bad"],
    ["Partitions under min.insync.replicas", health.under_min_in_sync_count, "bad"],
    ["Under-replicated partitions", health.under_replicated_count, "warn"],
    ["Partitions led by another than the preferred broker", health.led_by_another_count, "warn"],
  ];
  const isController = health.brokers.some((/** @type {any} */ broker) => broker.broker_id === health.controller_id);
  return html`
    <${Card} title="Health" aria-label="Health" aside=${html`<span class="faint xs num">${
      counted(health.topics_count, "topic")
    }, ${counted(health.partitions_count, "partition")}, controller ${
      health.controller_id === null ? "none" : `${health.controller_id}${isController ? "" : " (no broker)"}`
    }</span>`}>
      <dl class="facts health-facts">
        ${troubles.map(([words, number, tone]) =>
          html`
            <dt key=${words}>${words}</dt>
            <dd class="num">${number === 0
              ? html`<${Badge} tone="ok">✓ none</${Badge}>`
              : html`<${Badge} tone=${tone}>${tone === "bad" ? "✕" : "!"} ${grouped(number)}</${Badge}>`}</dd>
          `
        )}
      </dl>
      </${Card}>
  `;
}
