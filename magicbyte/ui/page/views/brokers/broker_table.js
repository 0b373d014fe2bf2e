/** The brokers, each with its share of the partitions and its log directories. */
import { Badge } from "../../parts/badges.js";
import { Scrolled } from "../../parts/scrolled.js";
import { Card } from "../../parts/cards.js";
import { Shown } from "../../parts/hostile.js";
import { grouped } from "../../text/grouped.js";
import { html } from "../../vendor/ui.js";
import { bytes } from "./bytes.js";

/** @param {{brokers: any[], controller: number | null, tells: boolean}} props `tells`: whether shares are known */
export const BrokerTable = ({ brokers, controller, tells }) =>
  html`
    <${Card} title="Brokers" bare>
      <${Scrolled} label="Brokers">
        <table class="broker-table">
          <thead>
            <tr>
              <th scope="col">Broker</th>
              <th scope="col">Address</th>
              <th scope="col">Rack</th>
              ${tells && html`
                <th scope="col" class="r">Leads</th>
                <th scope="col" class="r">Holds</th>
                <th scope="col" class="r">Out of sync</th>
                <th scope="col" class="r">Preferred leader of</th>
                <th scope="col">Log directories</th>
              `}
            </tr>
          </thead>
          <tbody>${brokers.map((broker) =>
            html`
              <tr key=${broker.broker_id}>
                <td class="num">${broker.broker_id} ${broker.broker_id === controller && html`
                  <${Badge} tone="line">controller</${Badge}>
                `}${!broker.is_online && html`<${Badge} tone="bad">✕ gone</${Badge}>`}</td>
                <td class="mono s anywhere">${broker.host === null
                  ? html`<span class="faint">unknown</span>`
                  : html`<${Shown} text=${`${broker.host}:${broker.port}`} />`}</td>
                <td class="s">${broker.rack
                  ? html`<${Shown} text=${broker.rack} />`
                  : html`<span class="faint">none</span>`}</td>
                ${tells && html`
                  <td class="r num">${grouped(broker.leaders_count)}</td>
                  <td class="r num">${grouped(broker.replicas_count)}</td>
                  <td class="r num">${broker.out_of_sync_count === 0
                    ? "0"
                    : html`<${Badge} tone="warn">! ${grouped(broker.out_of_sync_count)}</${Badge}>`}</td>
                  <td class="r num">${grouped(broker.preferred_leaders_count)}, leads ${grouped(
                    broker.preferred_leaders_led_count,
                  )}</td>
                  <td class="s">
                    <${Directories} directories=${broker.log_dirs} />
                  </td>
                `}
              </tr>
            `
          )}</tbody>
        </table>
        </${Scrolled}>
        </${Card}>
  `;

/** @param {{directories: any[] | null}} props */
function Directories({ directories }) {
  if (!directories) return html`<span class="faint">not told</span>`;
  return html`<ul class="log-dirs">${
    directories.map((directory) =>
      html`
        <li key=${directory.path}><span class="mono xs anywhere"><${Shown} text=${directory
          .path} /></span>${" "}${directory.error
          ? html`<${Badge} tone="bad">✕ ${directory.error}</${Badge}>`
          : html`<span class="num dim">${bytes(directory.partitions_bytes)}${
            directory.total_bytes !== null &&
            `, ${bytes(directory.usable_bytes)} of ${bytes(directory.total_bytes)} free`
          }</span>`}</li>
      `
    )
  }</ul>`;
}
