/** All consumer groups: state, members, lag, and topics. */
import * as admin from "../../api/admin.js";
import { Badge } from "../../parts/badges.js";
import { Button, Segmented } from "../../parts/buttons.js";
import { visibly } from "../../parts/gap.js";
import { Shown } from "../../parts/hostile.js";
import { Icon } from "../../parts/icon.js";
import { Empty } from "../../parts/states.js";
import { path } from "../../api/encode_url.js";
import { href, setQuery } from "../../state/routes.js";
import { config } from "../../state/signals.js";
import { grouped } from "../../text/grouped.js";
import { html, useState } from "../../vendor/ui.js";
import { BrokerStrip, FromBroker, NoProxy, useBroker } from "../kafka/broker.js";
import { counted } from "../../text/counted.js";
import { Refreshing } from "../kafka/refreshing.js";
import { KafkaHead, NeedsV3 } from "../kafka/kafka_head.js";
import { GroupState } from "../kafka/group_state.js";
import { lagOf } from "./lags.js";

const STEP = 300;
/** The most topics of a group that a row names. */
const NAMED = 3;

/** @param {import("../../state/types.d.ts").ViewProps} props */
export default function GroupListPage({ query }) {
  const request = useBroker((signal) => admin.groups({ signal }), ["all groups"]);
  const groups = /** @type {admin.Group[] | null | undefined} */ (request.data);
  return html`
    <${BrokerStrip} request=${request} />
    <div class="page group-list">
      <${KafkaHead} at="/groups" aside=${groups && `${grouped(groups.length)}${visibly()}`}>
        ${groups && html`<${Refreshing} request=${request} />`}
      </${KafkaHead}>
      ${config.value.restAvailable
        ? html`<${FromBroker} request=${request} rows=${10}>${(/** @type {admin.Group[] | null} */ found) =>
          found
            ? html`<${List} groups=${found} query=${query} />`
            : html`<${NeedsV3} what="groups" />`}</${FromBroker}>`
        : html`<${NoProxy} />`}
    </div>
  `;
}

/** @param {{groups: admin.Group[], query: Record<string, string>}} props */
function List({ groups, query }) {
  const [most, setMost] = useState(STEP);
  const { q = "", sort = "" } = query;
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (/** @type {admin.Group} */ { id, lags }) => {
    const text = `${id} ${(lags ?? []).map(({ topic }) => topic).join(" ")}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const shown = groups.filter(fits);
  if (sort === "lag") shown.sort((a, b) => (lagOf(b).total ?? -1) - (lagOf(a).total ?? -1));
  const isPartial = groups.some(({ lags }) => lags === undefined);
  return html`
    <div class="row wrap list-controls">
      <div class="box grow">
        <${Icon} name="search" />
        <input type="search" aria-label="Filter groups" placeholder="Group or topic" value=${q} autocomplete="off"
          spellcheck=${false} onInput=${(/** @type {any} */ event) => setQuery({ q: event.currentTarget.value })} />
      </div>
      <${Segmented} label="Order" value=${sort || "name"} options=${[["name", "By name"], ["lag", "By lag"]]}
        onChange=${(/** @type {string} */ name) => setQuery({ sort: name === "name" ? null : name })} />
    </div>
    ${isPartial && html`
      <p class="dim s">This REST proxy does not tell the lags of all groups at once. A group's page shows its lag.</p>
    `}
    ${shown.length === 0
      ? html`<${NoGroups} q=${q} any=${groups.length > 0} />`
      : html`<${Table} groups=${shown.slice(0, most)} />`}
    ${shown.length > most && html`
      <p class="more">
        <${Button} onClick=${() => setMost(most + STEP)}>Show ${Math.min(STEP, shown.length - most)} more of ${grouped(
          shown.length,
        )}</${Button}></p>
    `}
  `;
}

/** @param {{q: string, any: boolean}} props */
function NoGroups({ q, any }) {
  if (any) {
    return html`<${Empty} title=${html`No group has “${q}” in its name or topics`} actions=${html`
      <${Button} onClick=${() => setQuery({ q: null })}>Show all groups</${Button}>
    `} />`;
  }
  return html`
    <${Empty} title=${`The broker lists no group${visibly()}`}>
      <p>A group appears here when a consumer joins it, or commits an offset.</p>
      </${Empty}>
  `;
}

/** @param {{groups: admin.Group[]}} props */
const Table = ({ groups }) =>
  html`
    <div class="table-scroll">
      <table class="group-table">
        <thead>
          <tr>
            <th scope="col">Group</th>
            <th scope="col">State</th>
            <th scope="col" class="r">Members</th>
            <th scope="col" class="r">Lag</th>
            <th scope="col">Topics</th>
          </tr>
        </thead>
        <tbody>${groups.map((group) =>
          html`
            <tr key=${group.id}>
              <td class="mono anywhere"><a class="name" href=${href(
                path`/groups/${group.id}`,
              )}><${Shown} name text=${group.id} /></a></td>
              <td>
                <${GroupState} state=${group.state} />
              </td>
              <td class="r num" data-label="members">${group.memberCount === null
                ? html`<span class="faint">unknown</span>`
                : grouped(group.memberCount)}</td>
              <td class="r num" data-label="lag">
                <${LagCell} group=${group} />
              </td>
              <td class="s">
                <${Topics} group=${group} />
              </td>
            </tr>
          `
        )}</tbody>
      </table>
    </div>
  `;

/** @param {{group: admin.Group}} props */
function LagCell({ group }) {
  const { total, unknown } = lagOf(group);
  if (total === null) return html`<span class="faint">unknown</span>`;
  return html`${total === 0 && unknown === 0 ? html`<${Badge} tone="ok">✓ none</${Badge}>` : grouped(total)}${
    unknown > 0 && html`
      ${" "}<span class="faint xs aside">${counted(unknown, "partition")} unknown</span>
    `
  }`;
}

/** @param {{group: admin.Group}} props */
function Topics({ group: { lags } }) {
  if (!lags) return html`<span class="faint">unknown</span>`;
  if (lags.length === 0) return html`<span class="faint">none${visibly()}</span>`;
  return html`<span class="topic-links">${
    lags.slice(0, NAMED).map(({ topic }) =>
      html`<a key=${topic} class="link mono anywhere" href=${
        href(path`/topics/${topic}/groups`)
      }><${Shown} name text=${topic} /></a>`
    )
  }${lags.length > NAMED && html`<span class="faint">and ${lags.length - NAMED} more</span>`}</span>`;
}
