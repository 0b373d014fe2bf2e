/** The registry: its node, what it has, the last changes, export and import. */
import { call } from "../../api/client.js";
import { hasOverview } from "../../api/features.js";
import * as registry from "../../api/registry.js";
import { splitSubject } from "../../state/listing_columns.js";
import { listingError, needListing, readListing } from "../../state/live_listing.js";
import { LevelBadge } from "../../parts/badges.js";
import { Card } from "../../parts/cards.js";
import { CurlButton } from "../../parts/copying.js";
import { Failure, Loading } from "../../parts/states.js";
import { useRequest } from "../../parts/use_request.js";
import { href } from "../../state/routes.js";
import { config, me, overview } from "../../state/signals.js";
import { html, useEffect } from "../../vendor/ui.js";
import { Changes } from "./changes.js";
import { Transfer } from "./transfer.js";
import { grouped } from "../../text/grouped.js";

export default function Registry() {
  useEffect(() => {
    needListing();
  }, []);
  return html`
    <div class="page registry-page">
      <div class="page-head">
          <h1 tabindex="-1">Registry</h1>
          ${config.value.name && html`<span class="faint">${config.value.name}</span>`}
          <span class="grow"></span>
          <a class="btn" href=${href("/config")}>Settings</a>
          <${CurlButton} request=${{ method: "GET", path: "/health/ready", context: false }} />
        </div>
      <div class="registry-cards">
        <${Node} />
        <${Counts} />
        ${hasOverview() && html`<${Transfer} />`}
      </div>
      <${Changes} />
    </div>
  `;
}

/** The node that answers this page. */
function Node() {
  const node = me.value ?? {};
  const version = useRequest(
    (signal) => call("GET", "/v1/metadata/version", { signal, context: false }).catch(() => ({ data: {} })),
    [],
  );
  const level = useRequest((signal) => registry.config("", { signal, defaultToGlobal: false }).catch(() => null), []);
  /** @type {[string, any][]} */
  const facts = [
    ["Role", node.leader === undefined ? "connected" : node.leader ? "leader" : "follower"],
    ["Leader", node.leaderUrl && html`<span class="mono">${node.leaderUrl}</span>`],
    ["Offset", node.offset !== undefined && html`<span class="num">${grouped(node.offset)}</span>`],
    ["Behind the log by", node.lag ? html`<span class="num">${node.lag}</span>` : null],
    ["Problem", node.problem || null],
    ["Version", version.data?.data?.version ? html`<span class="mono">${version.data.data.version}</span>` : null],
    [
      "Level",
      level.data?.compatibilityLevel &&
      html`<${LevelBadge} level=${level.data.compatibilityLevel} origin=${
        level.data.origin === "server" ? "server" : undefined
      } />`,
    ],
    ["This page", config.value.readOnly ? "read-only" : "may write"],
    [
      "REST proxy",
      config.value.restAvailable ? "connected" : html`none; set <span class="mono">magicbyte.ui.rest.url</span>`,
    ],
  ];
  return html`
    <${Card} title="This node">
      <dl class="facts">
        ${facts.filter(([, value]) => value).map(([name, value]) =>
          html`
            <dt>${name}</dt>
            <dd>${value}</dd>
          `
        )}
      </dl>
      </${Card}>
  `;
}

/** The counts that names alone tell. */
const NAMED = new Set(["Subjects", "Deleted subjects", "Contexts"]);

/** How much there is. */
function Counts() {
  const listing = overview.value;
  if (!listing) {
    return html`<${Card} title="Contents">${
      listingError.value
        ? html`<${Failure} error=${listingError.value} again=${readListing} />`
        : html`<${Loading} rows=${6} height=${26} />`
    }</${Card}>`;
  }
  const live = listing.subject.flatMap((_, at) => listing.deleted[at] ? [] : [at]);
  const ofType = (/** @type {string} */ type) => live.filter((at) => (listing.type[at] ?? "AVRO") === type).length;
  const sum = (/** @type {(number | null)[]} */ column) =>
    column.reduce((/** @type {number} */ total, count) => total + (count ?? 0), 0);
  const contexts = new Set(listing.subject.map((subject) => splitSubject(subject).context));
  /** @type {[string, number, string?][]} */
  const counts = [
    ["Subjects", live.length, href("/subjects")],
    ["Versions", sum(listing.versions)],
    ["Avro", ofType("AVRO"), href("/subjects", { type: "AVRO" })],
    ["JSON Schema", ofType("JSON"), href("/subjects", { type: "JSON" })],
    ["Protobuf", ofType("PROTOBUF"), href("/subjects", { type: "PROTOBUF" })],
    ["With a level of their own", live.filter((at) => listing.ownLevel[at]).length, href("/subjects", { own: true })],
    ["Deleted subjects", listing.subject.length - live.length, href("/subjects", { deleted: true })],
    ["Contexts", contexts.size],
  ];
  return html`
    <${Card} title="Contents">
      <dl class="facts counts">
        ${(hasOverview() ? counts : counts.filter(([name]) => NAMED.has(name))).map(([name, count, address]) =>
          html`
            <dt>${address ? html`<a class="link" href=${address}>${name}</a>` : name}</dt>
            <dd class="num r">${grouped(count)}</dd>
          `
        )}
      </dl>
      </${Card}>
  `;
}
