/** The partitions of a group with its committed offsets, and its members. */
import { Badge } from "../../parts/badges.js";
import { Scrolled } from "../../parts/scrolled.js";
import { Card } from "../../parts/cards.js";
import { visibly } from "../../parts/gap.js";
import { Shown } from "../../parts/hostile.js";
import { Empty } from "../../parts/states.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { grouped } from "../../text/grouped.js";
import { html } from "../../vendor/ui.js";

/** @typedef {import("../../api/admin.js").Group} Group */
/** @typedef {import("../../api/admin.js").Member} Member */
/** @typedef {import("../../api/rest.js").Lag} Lag */
/**
 * @typedef {{topic: string, partition: number, committed: number | null, end: number | null, lag: number | null,
 *   member: Member | null, client: string}} Place
 */

/**
 * The partitions with committed offsets of a group or assigned to its members, by topic and number.
 * @param {Group} group
 * @param {Lag[]} lags
 * @returns {Place[]}
 */
export function placesOf({ members }, lags) {
  /** @type {Map<string, Member>} */
  const readers = new Map();
  for (const member of members ?? []) {
    for (const { topic, partition } of member.places) readers.set(`${topic} ${partition}`, member);
  }
  /** @type {Map<string, Place>} */
  const places = new Map();
  for (const { topic, partition, committed, end, lag, client, consumer } of lags) {
    const key = `${topic} ${partition}`;
    const member = readers.get(key) ?? members?.find(({ id }) => id === consumer) ?? null;
    places.set(key, { topic, partition, committed, end, lag, client, member });
  }
  for (const [key, member] of readers) {
    if (places.has(key)) continue;
    const at = key.lastIndexOf(" ");
    const place = { topic: key.slice(0, at), partition: Number(key.slice(at + 1)) };
    places.set(key, { ...place, committed: null, end: null, lag: null, client: member.client, member });
  }
  return [...places.values()].sort((a, b) =>
    a.topic < b.topic ? -1 : a.topic > b.topic ? 1 : a.partition - b.partition
  );
}

/** @param {{group: Group, lags: Lag[]}} props */
export function LagTable({ group, lags }) {
  const places = placesOf(group, lags);
  if (places.length === 0) {
    return html`
      <${Empty} title=${`The group has committed no offset${visibly()}`}>
        <p>A reset commits one for each partition of a topic.</p>
        </${Empty}>
    `;
  }
  return html`
    <${Card} title="Lag by partition" bare>
      <div class="table-scroll">
        <table class="lag-table">
          <thead>
            <tr>
              <th scope="col">Topic</th>
              <th scope="col" class="r">Partition</th>
              <th scope="col" class="r">Committed</th>
              <th scope="col" class="r">End</th>
              <th scope="col" class="r">Lag</th>
              <th scope="col">Member</th>
            </tr>
          </thead>
          <tbody>${places.map((place) =>
            html`<${Row} key=${`${place.topic} ${place.partition}`} place=${place} />`
          )}</tbody>
        </table>
      </div>
      </${Card}>
  `;
}

/** @param {{place: Place}} props */
const Row = ({ place: { topic, partition, committed, end, lag, member, client } }) =>
  html`
    <tr>
      <td class="mono anywhere"><a class="link" href=${href(
        path`/topics/${topic}/groups`,
      )}><${Shown} name text=${topic} /></a></td>
      <td class="r num">${partition}</td>
      <td class="r num mono">${committed === null
        ? html`<span class="faint">none</span>`
        : html`<a class="link" href=${
          href(path`/topics/${topic}/messages`, { partition, offset: committed })
        }>${committed}</a>`}</td>
      <td class="r num mono">${end ?? html`<span class="faint">unknown</span>`}</td>
      <td class="r num">${lag === null
        ? html`<span class="faint">unknown</span>`
        : lag === 0
        ? html`<${Badge} tone="ok">✓ none</${Badge}>`
        : grouped(lag)}</td>
      <td class="s">${member || client
        ? html`<span class="anywhere"><${Shown} text=${client || member?.client} /></span>${
          member?.host && html`
            ${" "}<span class="dim mono xs aside"><${Shown} text=${member.host} /></span>
          `
        }`
        : html`<span class="faint">nobody reads it</span>`}</td>
    </tr>
  `;

/** @param {{members: Member[]}} props */
export const MemberTable = ({ members }) =>
  members.length > 0 && html`
    <${Card} title="Members" bare>
      <${Scrolled} label="Members">
        <table class="member-table">
          <thead>
            <tr>
              <th scope="col">Member</th>
              <th scope="col">Client</th>
              <th scope="col">Host</th>
              <th scope="col" class="r">Partitions</th>
            </tr>
          </thead>
          <tbody>${members.map(({ id, instance, client, host, places }) =>
            html`
              <tr key=${id}>
                <td class="mono xs anywhere"><${Shown} text=${id} />${instance && html`
                  <span class="dim">, instance <${Shown} text=${instance} /></span>
                `}</td>
                <td class="s anywhere">
                  <${Shown} text=${client} />
                </td>
                <td class="s mono">${host
                  ? html`<${Shown} text=${host} />`
                  : html`<span class="faint">unknown</span>`}</td>
                <td class="r num">${places.length}</td>
              </tr>
            `
          )}</tbody>
        </table>
        </${Scrolled}>
        </${Card}>
  `;
