/** A consumer group: its lag in each partition, and its members. */
import * as admin from "../../api/admin.js";
import * as rest from "../../api/rest.js";
import { Button } from "../../parts/buttons.js";
import { Shown } from "../../parts/hostile.js";
import { href, setQuery } from "../../state/routes.js";
import { config } from "../../state/signals.js";
import { html } from "../../vendor/ui.js";
import { Crumb } from "../subject/subject_head.js";
import { BrokerStrip, FromBroker, NoProxy, useBroker } from "../kafka/broker.js";
import { counted } from "../../text/counted.js";
import { Refreshing } from "../kafka/refreshing.js";
import { missingRight } from "../kafka/kafka_rights.js";
import { GroupState } from "../kafka/group_state.js";
import { LagTable, MemberTable, placesOf } from "./lag_table.js";
import { ResetCard } from "./reset.js";

/** @typedef {{cluster: string, group: admin.Group, lags: rest.Lag[]}} GroupAnswer */

/** @param {import("../../state/types.d.ts").ViewProps} props */
export default function GroupPage({ params: { group: name }, query }) {
  const request = useBroker((signal) => read(name, signal), [name]);
  const { group, lags, cluster } = /** @type {Partial<GroupAnswer>} */ (request.data ?? {});
  const reason = group ? whyNot(group) : "";
  return html`
    <header class="head">
      <${Crumb} items=${[["Groups", href("/groups")], [name]]} />
      <div class="head-row">
        <div class="head-name">
          <h1 tabindex="-1"><${Shown} name text=${name} /></h1>
          ${group && html`
            <${GroupState} state=${group.state} />
            <span class="dim s num">${summaryOf(group, lags ?? [])}</span>
          `}
        </div>
        <div class="head-actions">
          ${group && html`
            <${Refreshing} request=${request} />
            <${Button} kind="primary" reason=${reason} disabled=${Boolean(query.reset)}
              onClick=${() => setQuery({ reset: true })}>Reset offsets</${Button}>
          `}
        </div>
      </div>
      <div class="head-space"></div>
    </header>
    <${BrokerStrip} request=${request} />
    <div class="page group">
      ${config.value.restAvailable
        ? html`<${FromBroker} request=${request} rows=${8}>${(/** @type {GroupAnswer} */ found) =>
          html`
            ${query.reset && html`
              <${ResetCard} cluster=${cluster} group=${name} query=${query} reason=${reason} onDone=${request.reload}
                committed=${committedIn(found.lags)} />
            `}
            <${Facts} group=${found.group} />
            <${LagTable} group=${found.group} lags=${found.lags} />
            <${MemberTable} members=${found.group.members ?? []} />
          `}</${FromBroker}>`
        : html`<${NoProxy} />`}
    </div>
  `;
}

/** @param {string} name @param {AbortSignal} signal @returns {Promise<GroupAnswer>} */
async function read(name, signal) {
  const [group, lags, cluster] = await Promise.all([
    admin.group(name, { signal }),
    rest.lags(name, { signal }),
    rest.clusterId(),
  ]);
  return { group, lags, cluster: String(cluster) };
}

/** The partitions with a committed offset, by topic. @param {rest.Lag[]} lags @returns {Map<string, number[]>} */
function committedIn(lags) {
  /** @type {Map<string, number[]>} */
  const committed = new Map();
  for (const { topic, partition } of lags) committed.set(topic, [...(committed.get(topic) ?? []), partition]);
  return committed;
}

/** Why the user cannot reset the group's offsets; empty if allowed. @param {admin.Group} group */
function whyNot({ operations, members }) {
  const missing = missingRight("reset", operations);
  if (missing) return missing;
  const many = members?.length ?? 0;
  return many === 0
    ? ""
    : `The group has ${counted(many, "member")}. Stop ${
      many === 1 ? "it" : "them"
    } first: a member would go on from its own offsets.`;
}

/** @param {admin.Group} group @param {rest.Lag[]} lags */
function summaryOf(group, lags) {
  const rows = placesOf(group, lags);
  const unknown = rows.filter(({ lag }) => lag === null).length;
  const total = rows.reduce((sum, { lag }) => sum + (lag ?? 0), 0);
  return `${counted(group.members?.length ?? 0, "member")}, ${counted(total, "record")} behind${
    unknown > 0 ? `, ${counted(unknown, "partition")} unknown` : ""
  }`;
}

/** @param {{group: admin.Group}} props */
const Facts = ({ group: { type, assignor, coordinator } }) =>
  html`
    <dl class="facts group-facts">
      <dt>Protocol</dt>
      <dd>${type.toLowerCase() || "unknown"}</dd>
      <dt>Assignor</dt>
      <dd>${assignor ? html`<${Shown} text=${assignor} />` : html`<span class="faint">none</span>`}</dd>
      <dt>Coordinator</dt>
      <dd>${coordinator === null
        ? html`<span class="faint">unknown</span>`
        : html`<a class="link" href=${href("/brokers")}>broker ${coordinator}</a>`}</dd>
    </dl>
  `;
