/** The head of the lists of topics, groups, brokers and dead letters, with the tabs between them. */
import { href } from "../../state/routes.js";
import { html } from "../../vendor/ui.js";

/** @type {[string, string][]} */
const TABS = [["/topics", "Topics"], ["/groups", "Groups"], ["/brokers", "Brokers"], [
  "/dead-letters",
  "Dead letters",
]];

/** @param {{at: string, aside?: any, children?: any}} props `at`: the path of the current tab; `children`: actions */
export const KafkaHead = ({ at, aside, children }) =>
  html`
    <div class="page-head room-head">
      <h1 tabindex="-1">${TABS.find(([path]) => path === at)?.[1]}</h1>
      ${aside && html`<span class="faint num">${aside}</span>`}
      <span class="grow"></span>
      ${children}
    </div>
    <nav class="tabs room-tabs" aria-label="Of Kafka">
      ${TABS.map(([path, words]) =>
        html`<a key=${path} href=${href(path)} aria-current=${path === at ? "page" : undefined}>${words}</a>`
      )}
    </nav>
  `;

/** Says that a view needs version 3 of the proxy. @param {{what: string}} props */
export const NeedsV3 = ({ what }) =>
  html`
    <div class="state">
      <h2>This REST proxy does not tell of ${what}</h2>
      <p>They need version 3 of its API. Some proxies show it only to users who may see the cluster.</p>
    </div>
  `;
