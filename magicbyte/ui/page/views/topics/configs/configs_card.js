/** The properties of a topic: values, sources and meanings, and changes of several properties in one request. */
import * as admin from "../../../api/admin.js";
import { Button, Chip } from "../../../parts/buttons.js";
import { Card } from "../../../parts/cards.js";
import { CurlButton } from "../../../parts/copying.js";
import { toast } from "../../../parts/toasts.js";
import { setQuery } from "../../../state/routes.js";
import { html, useState } from "../../../vendor/ui.js";
import { FromBroker, useBroker } from "../../kafka/broker.js";
import { counted } from "../../../text/counted.js";
import { missingRight, Refused } from "../../kafka/kafka_rights.js";
import { ConfigTable } from "./config_table.js";

/** @typedef {Map<string, admin.Change>} Changes by the property's name */

/**
 * @param {{cluster: string, topic: string, operations: string[] | null, query: Record<string, string>}} props
 */
export function ConfigsCard({ cluster, topic, operations, query }) {
  const hidden = missingRight("describeConfigs", operations);
  const request = useBroker(hidden ? null : (signal) => admin.topicConfigs(topic, { signal }), [topic, "configs"]);
  const [changes, setChanges] = useState(/** @type {Changes} */ (new Map()));
  const reason = missingRight("configure", operations);
  const all = /** @type {admin.Config[]} */ (request.data ?? []);
  const own = all.filter(({ source }) => source === "DYNAMIC_TOPIC_CONFIG").length;
  const onlyOwn = query.show === "set";
  const change = (/** @type {string} */ name, /** @type {admin.Change | null} */ wanted) => {
    const next = new Map(changes);
    if (wanted) next.set(name, wanted);
    else next.delete(name);
    setChanges(next);
  };
  const done = () => {
    setChanges(new Map());
    request.reload();
  };
  return html`
    <${Card} title="Properties" aria-label="Properties" bare aside=${request.data && html`
      <${Chip} pressed=${onlyOwn} count=${own} onClick=${() =>
        setQuery({ show: onlyOwn ? null : "set" })}>Set on the topic</${Chip}>
    `}>
      ${hidden
        ? html`
          <div class="body">
            <p class="s warn-text">${hidden}</p>
          </div>
        `
        : html`<${FromBroker} request=${request} rows=${8}>${(/** @type {admin.Config[]} */ configs) =>
          html`
            ${reason && html`
              <div class="body">
                <p class="s warn-text">${reason}</p>
              </div>
            `}
            <${ConfigTable} changes=${changes} onChange=${change} reason=${reason}
              configs=${configs.filter(({ name, source }) =>
                !onlyOwn || source === "DYNAMIC_TOPIC_CONFIG" || changes.has(name)
              )} />
          `}</${FromBroker}>`}
      ${changes.size > 0 && html`
        <${Foot} cluster=${cluster} topic=${topic} changes=${changes} reason=${reason} onDone=${done}
          onDrop=${() => setChanges(new Map())} />
      `}
    </${Card}>
  `;
}

/**
 * @param {{cluster: string, topic: string, changes: Changes, reason: string, onDone: () => void, onDrop: () => void}} props
 */
function Foot({ cluster, topic, changes, reason, onDone, onDrop }) {
  const [error, setError] = useState(/** @type {any} */ (null));
  const [checked, setChecked] = useState("");
  const [busy, setBusy] = useState(false);
  const request = admin.configsRequest(cluster, topic, [...changes.values()]);
  const text = JSON.stringify(request);
  /** @param {import("../../../api/types.d.ts").Request} asked @param {() => void} then */
  const sent = async (asked, then) => {
    if (reason || busy) return;
    setBusy(true);
    try {
      await admin.send(asked);
      setError(null);
      then();
    } catch (refusal) {
      setError(refusal);
    } finally {
      setBusy(false);
    }
  };
  const check = () => sent(admin.dry(request), () => setChecked(text));
  const save = () =>
    sent(request, () => {
      toast(`${counted(changes.size, "property", "properties")} of ${topic} changed.`);
      onDone();
    });
  return html`
    <div class="config-foot">
      <span class="s num">${counted(changes.size, "change")}</span>
      ${checked === text &&
        html`<span class="s ok-text" role="status">✓ The broker would take ${
          changes.size === 1 ? "it" : "them"
        }.</span>`}
      <span class="grow"></span>
      <${CurlButton} kind="quiet" request=${request} />
      <${Button} kind="quiet" onClick=${onDrop}>Drop</${Button}>
      <${Button} reason=${reason} disabled=${busy} onClick=${check}>Check</${Button}>
      <${Button} kind="primary" reason=${reason} disabled=${busy} onClick=${save}>Save ${counted(
        changes.size,
        "change",
      )}</${Button}>
      ${error && html`
        <div class="config-error">
          <${Refused} error=${error} action="configure" />
        </div>
      `}
    </div>
  `;
}
