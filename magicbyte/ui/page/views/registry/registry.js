/** The registry: its node, its counts, the last changes, export and import. */
import { call } from "../../api/client.js";
import { cellFact, factOrUnknown } from "../../api/fact.js";
import { hasOverview } from "../../api/features.js";
import * as registry from "../../api/registry.js";
import { splitSubject } from "../../text/split_subject.js";
import { listingError, needListing, readListing } from "../../state/live_listing.js";
import { LevelBadge } from "../../parts/badges.js";
import { Card } from "../../parts/cards.js";
import { GapWords } from "../../parts/gap.js";
import { CurlButton } from "../../parts/copying.js";
import { Failure, Loading } from "../../parts/states.js";
import { useRequest } from "../../parts/use_request.js";
import { useRights } from "../../parts/use_rights.js";
import { href } from "../../state/routes.js";
import { config, context, me, overview } from "../../state/signals.js";
import { html, useEffect } from "../../vendor/ui.js";
import { Changes } from "./changes.js";
import { Transfer } from "./transfer.js";
import { grouped } from "../../text/grouped.js";

export default function Registry() {
  useEffect(() => {
    needListing();
  }, []);
  useRights();
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

/**
 * The role of a node if the user may not see it, or if the registry is not ours.
 * @type {import("../../api/fact.js").Fact<any>}
 */
const NOT_TOLD = { gap: "unknown", reason: "The registry does not tell you." };

/** The node that serves this page. */
function Node() {
  const node = me.value ?? {};
  const version = useRequest(
    (signal) => factOrUnknown(call("GET", "/v1/metadata/version", { signal, context: false })),
    [],
  );
  const level = useRequest((signal) => factOrUnknown(registry.config("", { signal, defaultToGlobal: false })), []);
  /** @type {[string, any][]} */
  const facts = [
    ["Role", node.leader === undefined ? html`<${GapWords} fact=${NOT_TOLD} />` : node.leader ? "leader" : "follower"],
    ["Leader", node.leaderUrl && html`<span class="mono">${node.leaderUrl}</span>`],
    ["Offset", node.offset !== undefined && html`<span class="num">${grouped(node.offset)}</span>`],
    ["Behind the log by", node.lag ? html`<span class="num">${node.lag}</span>` : null],
    ["Problem", node.problem || null],
    [
      "Version",
      version.data?.gap === null
        ? html`<span class="mono">${version.data.value.data?.version}</span>`
        : version.data && html`<${GapWords} fact=${version.data} />`,
    ],
    [
      "Level",
      level.data?.gap === null
        ? html`<${LevelBadge} level=${level.data.value.compatibilityLevel} origin=${level.data.value.origin} ofRegistry />`
        : level.data && html`<${GapWords} fact=${level.data} />`,
    ],
    ["This page", config.value.readOnly ? "read-only" : "not read-only"],
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

/** The counts that are known from names alone. */
const NAMED = new Set(["Subjects", "Deleted subjects", "Contexts", "Subjects of other contexts"]);

/** The counts of the context to which the links lead. */
function Counts() {
  const listing = overview.value;
  if (!listing) {
    return html`<${Card} title="Contents">${
      listingError.value
        ? html`<${Failure} error=${listingError.value} again=${readListing} />`
        : html`<${Loading} rows=${6} height=${26} />`
    }</${Card}>`;
  }
  const all = listing.subject.map((subject, at) => ({ at, of: splitSubject(subject).context }));
  const contexts = new Set(all.map(({ of }) => of));
  const here = all.filter(({ of }) => of === context.value).map(({ at }) => at);
  const live = here.filter((at) => !listing.deleted[at]);
  const ofType = (/** @type {string} */ type) => live.filter((at) => listing.type[at] === type).length;
  const hidden = live.filter((at) => listing.type[at] === null).length;
  const settled = live.filter((at) => cellFact(listing.ownLevel[at]).gap === null);
  const versions = here.reduce((total, at) => total + (listing.versions[at] ?? 0), 0);
  /** @type {[string, number, string?][]} */
  const counts = [
    ["Subjects", live.length, href("/subjects")],
    ["Versions", versions],
    ["Avro", ofType("AVRO"), href("/subjects", { type: "AVRO" })],
    ["JSON Schema", ofType("JSON"), href("/subjects", { type: "JSON" })],
    ["Protobuf", ofType("PROTOBUF"), href("/subjects", { type: "PROTOBUF" })],
    ...(hidden > 0 ? [/** @type {[string, number]} */ (["With schemas that you may not read", hidden])] : []),
    [
      "With a level of their own",
      settled.filter((at) => listing.ownLevel[at]).length,
      href("/subjects", { own: true }),
    ],
    ...(settled.length < live.length
      ? [/** @type {[string, number]} */ (["With a level that you may not read", live.length - settled.length])]
      : []),
    ["Deleted subjects", here.length - live.length, href("/subjects", { deleted: true })],
    ["Contexts", contexts.size],
    ["Subjects of other contexts", all.filter(({ at, of }) => of !== context.value && !listing.deleted[at]).length],
  ];
  return html`
    <${Card} title=${`Contents of ${context.value ? `the context ${context.value}` : "the default context"}`}
      aside=${config.value.accessRules && html`<span class="faint s">what you may see</span>`}>
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
