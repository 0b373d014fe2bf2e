/** The bar at the top, and the strip below it while the registry is unreachable. */
import { isMissingRoute } from "../api/transport.js";
import * as registry from "../api/registry.js";
import { Button } from "../parts/buttons.js";
import { Icon } from "../parts/icon.js";
import { Menu, Select } from "../parts/menus.js";
import { clock } from "../parts/times.js";
import { useRequest } from "../parts/use_request.js";
import { go, href, route } from "../state/routes.js";
import { openHelp } from "../search/help.js";
import { openSearch } from "../search/palette.js";
import { askAgain } from "../state/connection.js";
import { pipelinesSeen } from "../state/pipelines_seen.js";
import { config, context, me, online, overview } from "../state/signals.js";
import { namesOf } from "../search/matching.js";
import { theme, THEMES } from "./theme.js";
import { html, useEffect, useState } from "../vendor/ui.js";
import { grouped } from "../text/grouped.js";

/** Path, label, and path prefixes of each place. @type {[string, string, string[]][]} */
const PLACES = [
  ["/subjects", "Subjects", ["/subjects", "/schemas", "/new", "/config"]],
  ["/topics", "Topics", ["/topics", "/new-topic", "/groups", "/brokers", "/dead-letters"]],
  ["/pipelines", "Pipelines", ["/pipelines"]],
  ["/decode", "Decode", ["/decode"]],
  ["/registry", "Registry", ["/registry"]],
];

/** The places to show; Pipelines only if there are pipelines. */
const placesHere = () =>
  PLACES.filter(([to]) => to !== "/pipelines" || config.value.pipelinesConfigured || pipelinesSeen.value);

export function Bar() {
  const { path } = route.value;
  const { name, color, readOnly } = config.value;
  const inList = path === "/" || path === "/subjects";
  return html`<header class="bar ${color ? "named" : ""}" style=${color ? { "--named": color } : undefined}>
    <a class="brand" href=${href("/subjects")}>
      <span class="byte" aria-hidden="true"><i></i><i></i><i></i><i></i><i></i></span>
      <span>Magicbyte${
    name && html`
      <span class="place">${name}</span>
    `
  }</span>
    </a>
    <${ContextSelect} />
    <nav class="nav" aria-label="Main">
      ${
    placesHere().map(([to, words, starts]) => {
      const here = starts.some((start) => path === start || path.startsWith(start + "/")) ||
        (to === "/subjects" && path === "/");
      return html`<a key=${to} href=${href(to)} aria-current=${here ? "page" : undefined}>${words}</a>`;
    })
  }
    </nav>
    ${
    inList
      ? html`<span class="grow"></span>`
      : html`<button type="button" class="find" onClick=${() =>
        openSearch()} aria-label="Search subjects, fields and ids">
      <${Icon} name="search" size=${15} /><span class="grow words">Subject, field, id or guid</span><kbd>/</kbd>
    </button>`
  }
    <div class="bar-end">
      ${readOnly && html`<span class="badge line">read-only</span>`}
      <${NodeStatus} />
      <${Menu} kind="quiet icon" name="Theme, time and keys" label=${html`<${Icon} name="half" size=${15} />`} items=${[
    { label: "Theme", caption: true },
    ...THEMES.map((name) => ({
      label: chosen(name[0].toUpperCase() + name.slice(1), theme.value === name),
      onClick: () => theme.value = name,
    })),
    { label: "Times", caption: true },
    { label: chosen("Local", clock.value === "local"), onClick: () => clock.value = "local" },
    { label: chosen("UTC", clock.value === "utc"), onClick: () => clock.value = "utc" },
    "-",
    { label: html`<span class="grow">Keys</span><kbd>?</kbd>`, onClick: openHelp },
  ]} />
    </div>
  </header>`;
}

/** @param {string} words @param {boolean} is */
const chosen = (words, is) =>
  html`<span class="row grow">${
    is ? html`<${Icon} name="check" size=${12} />` : html`<span style=${{ width: "12px" }}></span>`
  }${words}${is && html`<span class="hidden-text">, chosen</span>`}</span>`;

/** The node: leader or follower, and the log's offset, which the change feed updates. */
function NodeStatus() {
  const node = me.value;
  if (!online.value.up && !online.value.leaderless) {
    return html`<span class="live gone"><span class="words">not reachable</span></span>`;
  }
  if (!node) return null;
  const role = node.leader === undefined ? "connected" : node.leader ? "leader" : "follower";
  const offset = node.offset !== undefined && node.offset >= 0 ? `, offset ${grouped(node.offset)}` : "";
  return html`<span class="live num" title=${node.leaderUrl ? `The leader is ${node.leaderUrl}` : undefined}>
    <span class="words">${role}${offset}</span><span class="hidden-text">${role}</span>
  </span>`;
}

/** The paths of views that read the listing. The listing has all contexts, so these views need no request for them. */
const READS_LISTING = /^\/(subjects|registry|topics(\/[^/]+)?)?$/;

/** Selects the context, if the registry has more than the default one. */
function ContextSelect() {
  const { path } = route.value;
  const listing = overview.value;
  const waits = listing !== null || READS_LISTING.test(path);
  const { data, error } = useRequest(waits ? null : (signal) => registry.contexts({ signal }), [waits]);
  const names = listing
    ? [...new Set(namesOf(listing).context)].filter(Boolean).sort()
    : (data ?? []).filter((/** @type {string} */ name) => name !== ".");
  const current = context.value;
  if (current && !names.includes(current)) names.push(current);
  if (names.length === 0) {
    return html`<span class="ctx-none xs faint" title=${error?.message}>${
      error && !isMissingRoute(error) && "contexts unknown"
    }</span>`;
  }
  const choose = (/** @type {string} */ name) => go("/subjects", {}, { context: name });
  return html`<span class="ctx"><${Select} label="Context" value=${current} onChange=${choose} options=${[
    ["", "default context"],
    ...names.map((/** @type {string} */ name) => [name, name]),
  ]} /></span>`;
}

/** Says since when the registry is unreachable and when the page tries again. */
export function Strip() {
  const { up, message, requestId, retryAt = 0 } = online.value;
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (up) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [up, retryAt]);
  if (up) return null;
  const seconds = Math.max(0, Math.ceil((retryAt - now) / 1000));
  return html`<div class="strip" role="status">
    <${Icon} name="warn" /><span>${message}</span>
    ${requestId && html`<span class="mono xs">request ${requestId}</span>`}
    <span aria-hidden="true" class="num">${seconds ? `Asking again in ${seconds} s.` : "Asking..."}</span>
    <${Button} kind="small" onClick=${askAgain}>Ask now</${Button}>
  </div>`;
}
