/** The last 100 changes: first from the feed's history, then live. */
import { recentChanges } from "../../state/change_feed.js";
import { lacking } from "../../api/features.js";
import { splitSubject } from "../../text/split_subject.js";
import { Card } from "../../parts/cards.js";
import { visibly } from "../../parts/gap.js";
import { Shown } from "../../parts/hostile.js";
import { Loaded } from "../../parts/states.js";
import { Time } from "../../parts/times.js";
import { useRequest } from "../../parts/use_request.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { changes, me } from "../../state/signals.js";
import { html } from "../../vendor/ui.js";

const MOST = 100;
/** How many offsets of history to read: some entries are not changes. */
const BACK = 400;

export function Changes() {
  const ready = me.value !== null;
  const offset = me.peek()?.offset;
  const lacks = lacking.value.includes("events");
  const asked = useRequest(
    ready && offset !== undefined && !lacks
      ? (signal) => recentChanges(Math.max(-1, offset - BACK), MOST, signal)
      : null,
    [ready, lacks],
  );
  if (lacks) return null;
  return html`
    <${Card} bare title="Last changes" aside=${html`<span class="faint s">as they come</span>`}>
      ${ready && offset === undefined ? html`<${Rows} history=${[]} offset=${offset} />` : html`
        <${Loaded} request=${asked} rows=${8} height=${37}>${(/** @type {any[]} */ history) =>
          html`<${Rows} history=${history} offset=${offset} />`}</${Loaded}>
      `}
      </${Card}>
  `;
}

/**
 * @param {{history: any[], offset: number | undefined}} props `offset`: the log's offset, if the registry returns it
 */
function Rows({ history, offset }) {
  const newest = history[0]?.offset ?? -1;
  const rows = [
    ...changes.value.filter((change) => change.offset > newest && change.type !== "reset"),
    ...history,
  ].slice(0, MOST);
  if (rows.length === 0) return html`<p class="body dim s">${nothingWords(offset)}</p>`;
  return html`
    <table class="changes">
      <caption class="hidden-text">Last changes</caption>
      <thead>
        <tr>
          <th scope="col" class="r">Offset</th>
          <th scope="col">When</th>
          <th scope="col">What</th>
          <th scope="col">Subject</th>
        </tr>
      </thead>
      <tbody>${rows.map((change) => html`<${Change} key=${change.offset} change=${change} />`)}</tbody>
    </table>
  `;
}

/** @param {number | undefined} offset */
function nothingWords(offset) {
  if (offset === undefined) {
    return `Nothing${visibly()} has changed since this page was opened. ` +
      "The registry does not tell you where its log ends, so the page cannot ask for earlier changes.";
  }
  return `Nothing${visibly()} has changed ${offset > BACK ? `in the last ${BACK} entries of the log` : "yet"}.`;
}

/** @type {Record<string, (change: any) => string>} */
const WORDS = {
  "schema.registered": ({ version, id }) => `version ${version} registered, id ${id}`,
  "schema.deleted": ({ version }) => `version ${version} deleted`,
  "schema.removed": ({ version }) => `version ${version} purged`,
  "subject.deleted": ({ version }) => version > 1 ? `deleted, versions up to ${version}` : "deleted",
  "config.updated": ({ config }) =>
    config?.compatibilityLevel ? `level ${config.compatibilityLevel}` : "settings changed",
  "config.removed": () => "settings of its own removed",
  "mode.updated": ({ mode }) => `mode ${mode}`,
  "mode.removed": () => "mode of its own removed",
};

/** @param {{change: any}} props */
function Change({ change }) {
  const { subject, offset, cursor, ts, type, version } = change;
  const { context, name } = splitSubject(subject ?? "");
  const address = type === "schema.registered" ? path`/subjects/${name}/versions/${version}` : path`/subjects/${name}`;
  return html`
    <tr>
      <td class="r num faint">${cursor === undefined ? offset : ""}</td>
      <td class="faint">
        <${Time} ms=${ts} />
      </td>
      <td>${WORDS[type]?.(change) ?? type}</td>
      <td class="mono anywhere">${subject
        ? html`<a class="cell-link" href=${href(address, {}, { context })}><${Shown} text=${
          context ? `${name} in ${context}` : name
        } /></a>`
        : html`<span class="faint">the registry</span>`}</td>
    </tr>
  `;
}
