/** A topic's settings: its properties, more partitions, and its deletion. */
import * as admin from "../../../api/admin.js";
import * as rest from "../../../api/rest.js";
import { Button } from "../../../parts/buttons.js";
import { Card } from "../../../parts/cards.js";
import { CurlButton } from "../../../parts/copying.js";
import { askDialog } from "../../../parts/dialogs.js";
import { toast } from "../../../parts/toasts.js";
import { go } from "../../../state/routes.js";
import { config } from "../../../state/signals.js";
import { html, useId, useState } from "../../../vendor/ui.js";
import { BrokerStrip, FromBroker, NoProxy, useBroker } from "../../kafka/broker.js";
import { counted } from "../../../text/counted.js";
import { recordsIn, TopicHead } from "../topic_head.js";
import { missingRight, Refused } from "../../kafka/kafka_rights.js";
import { NeedsV3 } from "../../kafka/kafka_head.js";
import { ConfigsCard } from "./configs_card.js";

/** @typedef {{cluster: string, facts: admin.Topic} | null} TopicSettings */

/** @param {import("../../../state/types.d.ts").ViewProps} props */
export default function TopicSettingsPage({ params: { topic }, query }) {
  const bounds = useBroker((signal) => rest.partitions(topic, { signal }), [topic]);
  const request = useBroker((signal) => read(topic, signal), [topic, "settings"]);
  const changed = () => {
    request.reload();
    bounds.reload();
  };
  return html`
    <${TopicHead} topic=${topic} tab="settings" partitions=${bounds.data} />
    <${BrokerStrip} request=${request} />
    <div class="page topic-settings">
      ${config.value.restAvailable
        ? html`<${FromBroker} request=${request} rows=${8}>${(/** @type {TopicSettings} */ found) =>
          found
            ? html`
              <${ConfigsCard} cluster=${found.cluster} topic=${topic} operations=${found.facts
                .operations} query=${query} />
              <${PartitionsCard} key=${found.facts.partitions} cluster=${found.cluster} facts=${found
                .facts} onDone=${changed} />
              <${DeleteCard} cluster=${found.cluster} facts=${found.facts} />
            `
            : html`<${NeedsV3} what="settings of topics" />`}</${FromBroker}>`
        : html`<${NoProxy} topic=${topic} />`}
    </div>
  `;
}

/** @param {string} topic @param {AbortSignal} signal @returns {Promise<TopicSettings>} */
async function read(topic, signal) {
  const facts = await admin.topicFacts(topic, { signal });
  return facts && { cluster: String(await rest.clusterId()), facts };
}

/** @param {{cluster: string, facts: admin.Topic, onDone: () => void}} props */
function PartitionsCard({ cluster, facts: { name, partitions, replicas, operations }, onDone }) {
  const id = useId();
  const [typed, setTyped] = useState("");
  const [error, setError] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const total = /^\d{1,6}$/.test(typed) ? Number(typed) : 0;
  const request = admin.growRequest(cluster, name, total);
  const missing = missingRight("grow", operations);
  const reason = missing ||
    (total > partitions ? "" : `Write a number above ${partitions}: Kafka cannot take partitions away.`);
  const add = async () => {
    setBusy(true);
    try {
      await admin.send(request);
      toast(`${name} has ${counted(total, "partition")}.`);
      onDone();
    } catch (refusal) {
      setError(refusal);
    } finally {
      setBusy(false);
    }
  };
  return html`
    <${Card} title="Partitions" aria-label="Partitions">
      <div class="stack">
        <p class="s dim">${counted(partitions, "partition")}, each on ${counted(
          replicas,
          "broker",
        )}. New partitions change which
          partition a key goes to: records of one key may then be in two.</p>
        <div class="row wrap">
          <label class="s" for=${id}>Partitions in all</label>
          <input class="input num reset-at" id=${id} inputmode="numeric" placeholder=${String(
            partitions + 1,
          )} value=${typed}
            autocomplete="off" disabled=${missing !== ""}
            onInput=${(/** @type {any} */ event) => setTyped(event.currentTarget.value)} />
          <${Button} reason=${reason} disabled=${busy} onClick=${add}>Add partitions</${Button}>
          <span class="grow"></span>
          <${CurlButton} kind="quiet" request=${request} />
        </div>
        ${missing && html`<p class="s warn-text">${missing}</p>`}
        ${error && html`<${Refused} error=${error} action="grow" />`}
      </div>
    </${Card}>
  `;
}

/** Says what a deletion removes; reads the counts when the dialog opens. @param {{topic: string}} props */
function DeletionWarning({ topic }) {
  const { data } = useBroker((signal) => rest.partitions(topic, { signal }), [topic, "lost"]);
  const holds = data
    ? `${counted(recordsIn(data), "record")} in ${counted(data.length, "partition")}`
    : "all its records";
  return html`<p>This removes the topic with ${holds}, for good. Its subjects stay in the registry.</p>`;
}

/** @param {{cluster: string, facts: admin.Topic}} props */
function DeleteCard({ cluster, facts: { name, operations, internal } }) {
  const [error, setError] = useState(/** @type {any} */ (null));
  const request = admin.deleteRequest(cluster, name);
  const reason = internal ? "Kafka keeps its own state in this topic." : missingRight("delete", operations);
  const remove = async () => {
    const sure = await askDialog({
      title: `Delete ${name}?`,
      body: html`<${DeletionWarning} topic=${name} />`,
      confirm: "Delete the topic",
      mustType: name,
      danger: true,
    });
    if (!sure) return;
    try {
      await admin.send(request);
      toast(`${name} is deleted.`);
      go("/topics");
    } catch (refusal) {
      setError(refusal);
    }
  };
  return html`
    <${Card} title="Deletion" aria-label="Deletion">
      <div class="stack">
        <div class="row wrap">
          <p class="s dim grow">A deleted topic and its records do not come back.</p>
          <${CurlButton} kind="quiet" request=${request} />
          <${Button} kind="danger" reason=${reason} onClick=${remove}>Delete the topic</${Button}>
        </div>
        ${reason && html`<p class="s warn-text">${reason}</p>`}
        ${error && html`<${Refused} error=${error} action="delete" />`}
      </div>
    </${Card}>
  `;
}
