/** A form for a new topic: the broker validates the topic while the user types, and then creates it. */
import * as admin from "../../../api/admin.js";
import * as rest from "../../../api/rest.js";
import { Button } from "../../../parts/buttons.js";
import { Card } from "../../../parts/cards.js";
import { CurlButton } from "../../../parts/copying.js";
import { Icon } from "../../../parts/icon.js";
import { toast } from "../../../parts/toasts.js";
import { useRequest } from "../../../parts/use_request.js";
import { path } from "../../../api/encode_url.js";
import { go, href, setQuery } from "../../../state/routes.js";
import { config, may } from "../../../state/signals.js";
import { html, useId, useState } from "../../../vendor/ui.js";
import { Crumb } from "../../subject/subject_head.js";
import { BrokerStrip, FromBroker, NoProxy, useBroker } from "../../kafka/broker.js";
import { counted } from "../../../text/counted.js";
import { Refused } from "../../kafka/kafka_rights.js";
import { NeedsV3 } from "../../kafka/kafka_head.js";
import { ValueInput } from "./config_table.js";
import { MEANINGS, nameProblem } from "./meanings.js";

/** The broker validates the topic after this pause between keys, in ms. */
const PAUSE_MS = 300;

/** @param {import("../../../state/types.d.ts").ViewProps} props */
export default function NewTopicPage({ query }) {
  const request = useBroker(() => rest.clusterId(), ["cluster"]);
  return html`
    <${BrokerStrip} request=${request} />
    <div class="page new-topic">
      <${Crumb} items=${[["Topics", href("/topics")], ["New topic"]]} />
      <div class="page-head"><h1 tabindex="-1">New topic</h1></div>
      ${config.value.restAvailable
        ? html`<${FromBroker} request=${request} rows=${5}>${(/** @type {string | null} */ cluster) =>
          cluster === null
            ? html`<${NeedsV3} what="new topics" />`
            : html`<${Form} cluster=${cluster} query=${query} />`}</${FromBroker}>`
        : html`<${NoProxy} />`}
    </div>
  `;
}

/** @param {string} text a whole number; empty for the broker's default */
const numberIn = (text) => text.trim() === "" ? null : /^\d{1,6}$/.test(text.trim()) ? Number(text) : NaN;

/** @param {{cluster: string, query: Record<string, string>}} props */
function Form({ cluster, query }) {
  const { name = "", partitions = "", replicas = "" } = query;
  const [configs, setConfigs] = useState(/** @type {{name: string, value: string}[]} */ ([]));
  const [error, setError] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const numbers = { partitions: numberIn(partitions), replicas: numberIn(replicas) };
  const problem = nameProblem(name) ||
    (Object.values(numbers).some((number) => number !== null && !(number >= 1)) &&
      "Partitions and replicas are whole numbers from 1.") ||
    (configs.some((config) => config.value.trim() === "") && "Write a value for each property.") || "";
  const request = admin.createRequest(cluster, { name, ...numbers, configs });
  const forbidden = may("topics").reason;
  const asks = !problem && !forbidden;
  const check = useRequest(
    asks
      ? async (signal) => {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        if (signal.aborted) return null;
        return await admin.send(admin.dry(request), { signal });
      }
      : null,
    [asks, JSON.stringify(request)],
  );
  const refusal = asks ? error ?? check.error : null;
  const reason = forbidden || problem ||
    (check.error ? check.error.message : check.data ? "" : "The broker has not checked it yet.");
  const create = async () => {
    setBusy(true);
    try {
      await admin.send(request);
      toast(`${name} is there.`);
      go(path`/topics/${name}`);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  const set = (/** @type {Record<string, string>} */ patch) => {
    setError(null);
    setQuery(patch);
  };
  return html`
    <${Card} title="Topic" aria-label="Topic">
      <form class="stack" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
        <${Field} label="Name" mono value=${name} onInput=${(/** @type {string} */ text) => set({ name: text })}
          help=${name && nameProblem(name)} />
        <div class="numbers">
          <${Field} label="Partitions" placeholder="the broker's default" value=${partitions}
            onInput=${(/** @type {string} */ text) => set({ partitions: text })} />
          <${Field} label="Replication factor" placeholder="the broker's default" value=${replicas}
            onInput=${(/** @type {string} */ text) => set({ replicas: text })} />
        </div>
        <${Configs} configs=${configs} onChange=${(/** @type {any} */ all) => {
          setError(null);
          setConfigs(all);
        }} />
        ${forbidden && html`<p class="s warn-text">${forbidden}</p>`}
        ${refusal && html`<${Refused} error=${refusal} action="create" />`}
        ${check.data &&
          html`<p class="s ok-text" role="status">✓ The broker would make it with ${
            counted(check.data.partitions_count, "partition")
          }, each on ${counted(check.data.replication_factor, "broker")}.</p>`}
        <div class="row wrap">
          <span class="grow"></span>
          <${CurlButton} request=${request} />
          <${Button} kind="primary" reason=${reason} disabled=${busy} onClick=${create}>Create the topic</${Button}>
        </div>
      </form>
    </${Card}>
  `;
}

/**
 * @param {{label: string, value: string, onInput: (text: string) => void, placeholder?: string, mono?: boolean,
 *   help?: string}} props
 */
function Field({ label, value, onInput, placeholder = "", mono = false, help = "" }) {
  const id = useId();
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      <input class="input ${mono
        ? "mono"
        : "num"}" id=${id} value=${value} placeholder=${placeholder} autocomplete="off"
        spellcheck=${false} aria-invalid=${help ? "true" : undefined} aria-describedby=${help
          ? `${id}-help`
          : undefined}
        onInput=${(/** @type {any} */ event) => onInput(event.currentTarget.value)} />
      ${help && html`<p class="s bad-text" id=${`${id}-help`}>${help}</p>`}
    </div>
  `;
}

/** @param {{configs: {name: string, value: string}[], onChange: (configs: {name: string, value: string}[]) => void}} props */
function Configs({ configs, onChange }) {
  const left = Object.keys(MEANINGS).filter((name) => !configs.some((config) => config.name === name));
  const add = (/** @type {any} */ event) => {
    const name = event.currentTarget.value;
    event.currentTarget.value = "";
    if (name) onChange([...configs, { name, value: MEANINGS[name].values?.[0] ?? "" }]);
  };
  return html`
    <fieldset class="stack">
      <legend class="s dim">Properties; all others have the broker's defaults</legend>
      ${configs.map(({ name, value }, at) =>
        html`
          <div class="new-config" key=${name}>
            <span class="mono s anywhere">${name}</span>
            <${ValueInput} name=${name} value=${value} onChange=${(/** @type {string} */ text) =>
              onChange(configs.map((config, i) => i === at ? { name, value: text } : config))} />
            <${Button} kind="small quiet" label=${`Leave out ${name}`} onClick=${() =>
              onChange(configs.filter((_, i) => i !== at))}>Leave out</${Button}>
            <p class="dim xs meaning">${MEANINGS[name].meaning} Kafka's default: ${MEANINGS[name].usual}.</p>
          </div>
        `
      )}
      <span class="select"><select aria-label="Add a property" onChange=${add}>
        <option value="">Add a property</option>
        ${left.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
      </select><${Icon} name="down" size=${12} /></span>
    </fieldset>
  `;
}
