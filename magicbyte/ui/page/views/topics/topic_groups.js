/** The consumer groups of a topic, with their lags. */
import { factOf } from "../../api/fact.js";
import * as admin from "../../api/admin.js";
import * as rest from "../../api/rest.js";
import { Badge } from "../../parts/badges.js";
import { Button } from "../../parts/buttons.js";
import { GapWords } from "../../parts/gap.js";
import { Shown } from "../../parts/hostile.js";
import { Empty } from "../../parts/states.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { config } from "../../state/signals.js";
import { html, useState } from "../../vendor/ui.js";
import { BrokerStrip, FromBroker, NoProxy, useBroker } from "../kafka/broker.js";
import { counted } from "../../text/counted.js";
import { TopicHead } from "./topic_head.js";
import { GroupState } from "../kafka/group_state.js";

/** @import { Fact } from "../../api/fact.js" */
/** @typedef {{id: string, state: string, lags: rest.Lag[]}} Behind */
/**
 * @typedef {object} TopicGroups
 * @property {Behind[]} behind the groups that have committed offsets of the topic
 * @property {Fact<any>[]} hidden why the lags of some groups are unknown
 * @property {number} asked the number of groups whose lags were requested
 * @property {number} left the number of remaining groups
 */

/** The number of groups whose lags each step requests, and the number of concurrent requests. */
const STEP = 40;
const AT_ONCE = 6;

/** @param {import("../../state/types.d.ts").ViewProps} props */
export default function GroupsPage({ params: { topic } }) {
  const [most, setMost] = useState(STEP);
  const bounds = useBroker((signal) => rest.partitions(topic, { signal }), [topic]);
  const groups = useBroker((signal) => groupsOf(topic, most, signal), [topic, most]);
  return html`
    <${TopicHead} topic=${topic} tab="groups" partitions=${bounds.data} />
    <${BrokerStrip} request=${groups} />
    <div class="page groups">
          ${config.value.restAvailable
            ? html`<${FromBroker} request=${groups} rows=${5}>${(/** @type {TopicGroups | null} */ found) =>
              found
                ? html`<${GroupTable} topic=${topic} found=${found} />
        ${
                  found.left > 0 && html`
                    <p class="more">
                      <${Button}
                        onClick=${() => setMost(most + STEP)}>Ask ${counted(
                          Math.min(STEP, found.left),
                          "more group",
                        )}</${Button}> <span class="dim s">Not asked yet: ${counted(found.left, "group")}.</span></p>
                  `
                }`
                : html`<${NoGroups} />`}</${FromBroker}>`
            : html`<${NoProxy} topic=${topic} />`}
        </div>
  `;
}

const NoGroups = () =>
  html`
    <${Empty} title="This REST proxy does not tell of groups">
      <p>Groups and lags need version 3 of its API.</p>
      </${Empty}>
  `;

/**
 * The groups that have committed offsets of a topic; null if the proxy does not list groups.
 * @param {string} topic
 * @param {number} most
 * @param {AbortSignal} signal
 * @returns {Promise<TopicGroups | null>}
 */
async function groupsOf(topic, most, signal) {
  const listed = await admin.groups({ signal });
  if (!listed) return null;
  // If the proxy returns the topics of each group, few groups remain to request.
  const groups = listed.filter(({ lags }) => !lags || lags.some((lag) => lag.topic === topic));
  /** @type {Behind[]} */
  const behind = [];
  /** @type {Fact<any>[]} */
  const hidden = [];
  for (let at = 0; at < Math.min(most, groups.length); at += AT_ONCE) {
    const some = groups.slice(at, Math.min(most, at + AT_ONCE));
    const lags = await Promise.all(some.map(({ id }) => factOf(rest.lags(id, { signal }))));
    some.forEach((group, i) => {
      const fact = lags[i];
      if (fact.gap !== null) return void hidden.push(fact);
      const own = fact.value.filter((lag) => lag.topic === topic).sort((a, b) => a.partition - b.partition);
      if (own.length) behind.push({ id: group.id, state: group.state, lags: own });
    });
  }
  const asked = Math.min(most, groups.length);
  return { behind, hidden, asked, left: groups.length - asked };
}

/** @param {{topic: string, found: TopicGroups}} props */
function GroupTable({ topic, found: { behind, hidden, asked, left } }) {
  const [open, setOpen] = useState("");
  const unread = hidden.length > 0 &&
    html`<p class="dim s">${counted(hidden.length, "group")} not told: <${GapWords} fact=${hidden[0]} /></p>`;
  if (!behind.length) {
    const read = counted(asked - hidden.length, "group");
    return html`
      <${Empty} title=${left > 0 || hidden.length > 0
        ? `${read} asked: none reads this topic`
        : "The broker lists no group that reads this topic"}>
        <p>A group appears here when it commits an offset of <span class="mono"><${Shown} name text=${topic} /></span>.</p>
        ${unread}
        </${Empty}>
    `;
  }
  return html`
    ${unread}
        <div class="table-scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Group</th>
            <th scope="col">State</th>
            <th scope="col" class="r">Partitions</th>
            <th scope="col" class="r">Behind</th>
            <th scope="col"><span class="hidden-text">Ways on</span></th>
          </tr>
        </thead>
        <tbody>${behind.map((group) =>
          html`<${GroupRows} key=${group.id} group=${group} topic=${topic} open=${open === group.id} onToggle=${() =>
            setOpen(open === group.id ? "" : group.id)} />`
        )}</tbody>
      </table>
    </div>
  `;
}

/** @param {{group: Behind, topic: string, open: boolean, onToggle: () => void}} props */
function GroupRows({ group: { id, state, lags }, topic, open, onToggle }) {
  const sum = lags.reduce((all, { lag }) => all + (lag ?? 0), 0);
  const unknown = lags.filter(({ lag }) => lag === null).length;
  return html`
    <tr>
      <td
        class="mono anywhere"><button type="button" class="btn quiet small" aria-expanded=${String(
          open,
        )} onClick=${onToggle}><${Shown} name text=${id} /></button></td>
      <td>
        <${GroupState} state=${state} />
      </td>
      <td class="r num">${lags.length}</td>
      <td class="r num">${unknown === 0 && sum === 0
        ? html`<${Badge} tone="ok">✓ none</${Badge}>`
        : html`${(sum > 0 || unknown === 0) && counted(sum, "record")} ${
          unknown > 0 &&
          html`<span class="faint xs">${unknown < lags.length && counted(unknown, "partition")} unknown</span>`
        }`}</td>
      <td class="r s ways-on"><a class="link" href=${href(
        path`/groups/${id}`,
      )} aria-label=${`Group ${id}`}>Group</a>${" "}
            <a class="link" href=${href(path`/groups/${id}`, {
              reset: true,
              topics: topic,
            })} aria-label=${`Reset the offsets of ${id} in this topic`}>Reset</a></td>
    </tr>
        ${open && lags.map((lag) =>
          html`
            <tr key=${lag.partition} class="lag-row">
              <td class="dim s">partition ${lag.partition}${lag.client &&
                html`, <span class="mono"><${Shown} text=${lag.client} /></span>`}</td>
              <td class="num s">at <a class="link mono" href=${href(path`/topics/${topic}/messages`, {
                partition: lag.partition,
                offset: lag.committed,
              })}>${lag.committed}</a></td>
              <td class="r num s">${lag.end ?? "unknown"}</td>
              <td class="r num s">${lag.lag ?? "unknown"}</td>
              <td></td>
            </tr>
          `
        )}
  `;
}
