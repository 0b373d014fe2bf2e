/** The panel beside the list: a subject's fields and its last change. */
import { cellFact, gapOf } from "../../api/fact.js";
import { isMissingRoute } from "../../api/transport.js";
import * as registry from "../../api/registry.js";
import { Badge, LevelBadge, listedOrigin, TypeBadge, VerdictBadge } from "../../parts/badges.js";
import { Button } from "../../parts/buttons.js";
import { GapBadge, GapWords } from "../../parts/gap.js";
import { Shown } from "../../parts/hostile.js";
import { Loaded } from "../../parts/states.js";
import { useRequest } from "../../parts/use_request.js";
import { splitSubject } from "../../text/split_subject.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { html } from "../../vendor/ui.js";
import { counted } from "../../text/counted.js";
import { effectOf, shortChange } from "../compare/words.js";
import { fieldRows } from "./field_rows.js";

const MOST_FIELDS = 10;
const MOST_CHANGES = 4;

/** @param {{facts: import("../../state/types.d.ts").Facts, selected: boolean, onSelect: () => void, onClose: () => void}} props */
export function Peek({ facts, selected, onSelect, onClose }) {
  const { subject, version } = facts;
  const { context, name } = splitSubject(subject);
  const outline = useOutline(subject, version);
  const at = path`/subjects/${name}/versions/${version || "latest"}`;
  return html`
    <aside class="peek" aria-label="The subject in brief">
      <div class="row">
          ${facts.type && html`<${TypeBadge} type=${facts.type} />`}
          <${GapBadge} fact=${cellFact(facts.type)} name="schema" />
          ${facts.id !== null && html`<span class="mono faint xs num">id ${facts.id}</span>`}
          <span class="grow"></span>
          <a class="row open-peek" href=${href(at, {}, {
            context,
          })}><kbd>Enter</kbd><span class="xs faint">open</span></a>
        </div>
      <h2 class="mono"><a href=${href(at, {}, { context })}><${Shown} name text=${name} /></a></h2>
      <p class="mono dim s anywhere record">${outline.data &&
        html`<${Shown} text=${fullName(outline.data.outline)} />`}</p>
      <div class="row wrap facts-row">
        ${facts.versions !== null && html`<${Badge} tone="line">${
          counted(
            facts.deleted ? facts.deletedVersions : facts.versions,
            "version",
          )
        }</${Badge}>`}
          ${facts.level &&
            html`<${LevelBadge} level=${facts.level} origin=${listedOrigin(facts, context)} />`}
          <${GapBadge} fact=${cellFact(facts.level)} name="level" />
          ${facts.references !== null && facts.references > 0 &&
            html`<${Badge} tone="line">refers to ${facts.references}</${Badge}>`}
          ${facts.deleted && html`<${Badge} tone="bad">deleted</${Badge}>`}
        </div>
        <${Fields} asked=${outline} address=${href(at, { view: "fields" }, { context })} />
        ${facts.versions > 1 &&
          html`<${LastChange} subject=${subject} name=${name} context=${context} version=${version} />`}
        <div class="row peek-foot">
          <${Button} kind="small" onClick=${onSelect}>${selected ? "Do not select" : "Select"} <kbd>x</kbd></${Button}>
          <${Button} kind="small quiet" onClick=${onClose}>Close <kbd>Esc</kbd></${Button}>
        </div>
      </aside>
  `;
}

/** Waits while the user moves quickly through the rows. @param {AbortSignal} signal */
const pause = (signal) =>
  new Promise((resolve, reject) => {
    setTimeout(resolve, 120);
    signal.addEventListener("abort", () => reject(signal.reason));
  });

/** @param {string} subject @param {number} version */
const useOutline = (subject, version) =>
  useRequest(async (signal) => {
    await pause(signal);
    return registry.outline(subject, version || "latest", { signal, deleted: true });
  }, [subject, version]);

/** The name with its namespace, if the path has the namespace. @param {{path: string, name: string}} root */
const fullName = ({ path, name }) => path.endsWith(name) && /^[\w.]+$/.test(path) ? path : name;

/** @param {{asked: any, address: string}} props */
function Fields({ asked, address }) {
  if (isMissingRoute(asked.error)) return null;
  return html`
    <section class="peek-part">
      <${Loaded} request=${asked} rows=${8} height=${32}>${(/** @type {any} */ outline) => {
        const rows = fieldRows(outline.outline);
        return html`<h3>${counted(rows.length, "field")}</h3>
      ${
          rows.slice(0, MOST_FIELDS).map((row, i) =>
            html`
              <div class="fld" key=${i}>
                <span class="mono anywhere">${row.before &&
                  html`<${Shown} text=${row.before} />`}<span class=${row.before
                  ? "faint"
                  : ""}><${Shown} text=${(row.before ? "." : "") + row.name} /></span></span>
                <span class="mono dim anywhere r"><${Shown} text=${row.type} /></span>
              </div>
            `
          )
        }
      ${
          rows.length > MOST_FIELDS &&
          html`<a class="fld link s" href=${address}>and ${rows.length - MOST_FIELDS} more</a>`
        }`;
      }}</${Loaded}>
      </section>
  `;
}

/** @param {{subject: string, name: string, context: string, version: number}} props */
function LastChange({ subject, name, context, version }) {
  const asked = useRequest(async (signal) => {
    await pause(signal);
    return registry.compare(subject, { to: version, deleted: true }, { signal });
  }, [subject, version]);
  if (isMissingRoute(asked.error)) return null;
  const gap = gapOf(asked.error);
  if (gap !== null) {
    return html`
      <section class="peek-part">
        <h3>Last change</h3>
        <${GapWords} fact=${{ gap, reason: asked.error.message }} />
      </section>
    `;
  }
  return html`
    <section class="peek-part">
      <${Loaded} request=${asked} rows=${2} height=${28}>${(/** @type {any} */ { from, to, changes }) => {
        const effect = effectOf(changes.flatMap((/** @type {any} */ change) => change.findings));
        const address = href(path`/subjects/${name}/compare`, { from: from.version, to: to.version }, { context });
        return html`
          <h3><a href=${address}>Last change, version ${from.version} to ${to.version}</a></h3>
          <p class="s last-change"><${VerdictBadge} ok=${effect.ok !== false} text=${effect.ok === null
            ? "with cautions"
            : effect.text} /> ${changes.slice(0, MOST_CHANGES).map((
              /** @type {any} */ change,
              /** @type {number} */ i,
            ) =>
              html`
                <span class="mono" key=${i}><${Shown} text=${shortChange(change)} /></span>
              `
            )}${changes.length > MOST_CHANGES &&
            html`<span class="faint">and ${changes.length - MOST_CHANGES} more</span>`}</p>
        `;
      }}</${Loaded}>
      </section>
  `;
}
