/** The head of a topic's pages: name, number of records, tabs. */
import { clusterId } from "../../api/rest.js";
import { Shown } from "../../parts/hostile.js";
import { useRights } from "../../parts/use_rights.js";
import { Crumb } from "../subject/subject_head.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { config } from "../../state/signals.js";
import { counted } from "../../text/counted.js";
import { html, signal, useEffect, useLayoutEffect, useRef } from "../../vendor/ui.js";
import { isLetterTopic } from "../kafka/letter_topics.js";

/** @typedef {import("../../api/rest.js").Partition} Partition */

/** Whether the proxy has version 3; assumed to be true until the proxy has answered. */
const hasV3 = signal(true);

/** @param {Partition[]} partitions */
export const recordsIn = (partitions) => partitions.reduce((sum, { first, end }) => sum + Math.max(0, end - first), 0);

/**
 * @param {{topic: string, tab: "topic" | "messages" | "produce" | "groups" | "settings", partitions?: Partition[], actions?: any}} props
 */
export function TopicHead({ topic, tab, partitions, actions }) {
  useRights([`${topic}-key`, `${topic}-value`]);
  useEffect(() => {
    if (!config.peek().restAvailable) return;
    clusterId().then((id) => hasV3.value = id !== null, () => {});
  }, []);
  const nav = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    // On a narrow screen the tabs scroll; keep the current tab visible.
    const current = /** @type {HTMLElement | null} */ (nav.current?.querySelector("[aria-current]"));
    if (nav.current && current) nav.current.scrollLeft = current.offsetLeft - nav.current.clientWidth / 2;
  }, [tab]);
  const at = path`/topics/${topic}`;
  const tabs = [
    ["topic", "Topic", href(at)],
    ["messages", "Messages", href(at + "/messages")],
    ["produce", "Produce", href(at + "/produce")],
    ...(hasV3.value
      ? [["groups", "Groups", href(at + "/groups")], ["settings", "Settings", href(at + "/configs")]]
      : []),
    ...(isLetterTopic(topic) ? [["letters", "Dead letters", href(path`/dead-letters/${topic}`)]] : []),
  ];
  return html`
    <header class="head">
      <${Crumb} items=${[["Topics", href("/topics")], [topic]]} />
      <div class="head-row">
        <div class="head-name">
          <h1 tabindex="-1">
            <${Shown} name text=${topic} />
          </h1>
          <span class="dim s num topic-size">${partitions ? sizeOf(partitions) : " "}</span>
        </div>
        <div class="head-actions">${actions}</div>
      </div>
      <nav ref=${nav} class="tabs" aria-label="Of this topic">
          ${tabs.map(([key, words, address]) =>
            html`<a key=${key} href=${address} aria-current=${key === tab ? "page" : undefined}>${words}</a>`
          )}
        </nav>
    </header>
  `;
}

/** @param {Partition[]} partitions */
const sizeOf = (partitions) =>
  `${counted(recordsIn(partitions), "record")} in ${counted(partitions.length, "partition")}`;
