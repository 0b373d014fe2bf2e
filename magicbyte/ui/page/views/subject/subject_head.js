/** The head of a subject's pages: breadcrumbs, name, badges, and tabs. */
import { hasOverview } from "../../api/features.js";
import { cellFact } from "../../api/fact.js";
import { GapBadge } from "../../parts/gap.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { config, context, qualified } from "../../state/signals.js";
import { html, useLayoutEffect, useRef } from "../../vendor/ui.js";
import { Badge, LevelBadge, listedOrigin, TypeBadge } from "../../parts/badges.js";
import { Shown } from "../../parts/hostile.js";
import { useRights } from "../../parts/use_rights.js";
import { useSubject } from "./use_subject.js";

/**
 * @param {{subject: string, tab?: string, version?: number | string, actions?: any, name?: string, crumbs?: any[],
 *   counts?: Record<string, any>, badges?: any, tabless?: boolean}} props `tab`: schema, fields, compare, evolution,
 *   references, messages or settings; `name`: the record's name; `crumbs`: the breadcrumbs after the subject, the last
 *   one
 *   without a link; `counts`: the counts that the listing lacks, by tab
 */
export function SubjectHead(
  { subject, tab, version, actions, name, crumbs = [], counts = {}, badges, tabless = false },
) {
  const facts = useSubject(subject);
  useRights([subject]);
  const number = version ?? "latest";
  const fields = fieldsOf(qualified(subject), counts.fields);
  return html`<header class="head ${tabless ? "tabless" : ""}">
    <${Crumb} items=${[["Subjects", href("/subjects")], [subject, href(path`/subjects/${subject}`)], ...crumbs]} />
    <div class="head-row">
      <div class="head-name">
        <h1 tabindex="-1"><${Shown} name text=${subject} /></h1>
        ${facts?.type && html`<${TypeBadge} type=${facts.type} />`}
        ${name && html`<span class="mono dim s anywhere"><${Shown} text=${name} /></span>`}
        ${
    facts?.level && !badges && html`<${LevelBadge} level=${facts.level} origin=${listedOrigin(facts, context.value)} />`
  }
        ${facts && !badges && hasOverview() && html`<${GapBadge} fact=${cellFact(facts.level)} name="level" />`}
        ${facts?.mode && facts.mode !== "READWRITE" && html`<${Badge} tone="warn">${facts.mode}</${Badge}>`}
        ${facts?.deleted && html`<${Badge} tone="bad">deleted</${Badge}>`}
        ${badges}
      </div>
      <div class="head-actions">${actions}</div>
    </div>
    ${
    !tabless && html`<${Tabs} subject=${subject} number=${number} tab=${tab} counts=${{
      evolution: facts?.versions,
      ...counts,
      ...(fields === undefined ? {} : { fields }),
    }} />`
  }
  </header>`;
}

/**
 * The number of fields in the newest outline of a subject, for the pages that read no outline.
 * @type {Map<string, number>}
 */
const fieldCounts = new Map();

/** @param {string} subject @param {number | undefined} count the number of fields in the page's outline */
function fieldsOf(subject, count) {
  if (count !== undefined) fieldCounts.set(subject, count);
  return count ?? fieldCounts.get(subject);
}

/** Breadcrumbs: labels with links; the last label may have no link. @param {{items: [string, string?][]}} props */
export const Crumb = ({ items }) =>
  html`
    <nav aria-label="Where this is">
      <ol class="crumb">
        ${items.map(([words, address], i) =>
          html`<li key=${i}>${
            address
              ? html`<a href=${address}><${Shown} name text=${words} /></a>`
              : html`<span><${Shown} name text=${words} /></span>`
          }</li>`
        )}
      </ol>
    </nav>
  `;

/** A count in at most four characters, such as `26k`. @param {number | null | undefined} count */
const short = (count) => typeof count === "number" && count >= 1000 ? `${Math.floor(count / 1000)}k` : count;

/** Tabs that need an outline or a graph, which only our registry has. */
const EXTENSION_TABS = new Set(["fields", "references"]);

/**
 * @param {{subject: string, number: number | string, tab?: string, counts: Record<string, any>}} props `counts`: a
 *   number that arrives later is undefined until then, but its space is reserved
 */
function Tabs({ subject, number, tab, counts }) {
  const at = path`/subjects/${subject}/versions/${number}`;
  const topic = subject.match(/^(.+)-(?:key|value)$/s)?.[1];
  /** @type {[string, string, string][]} */
  const tabs = [
    ["schema", "Schema", href(at)],
    ["fields", "Fields", href(at, { view: "fields" })],
    ["compare", "Compare", href(path`/subjects/${subject}/compare`)],
    ["evolution", "Evolution", href(path`/subjects/${subject}`)],
    ["references", "References", href(at + "/references")],
    ["settings", "Settings", href(path`/subjects/${subject}/settings`)],
  ];
  if (topic && config.value.restAvailable) {
    tabs.splice(5, 0, ["messages", "Messages", href(path`/topics/${topic}/messages`)]);
  }
  const nav = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    // On a narrow screen the tabs scroll; keep the current tab visible.
    const current = /** @type {HTMLElement | null} */ (nav.current?.querySelector("[aria-current]"));
    if (nav.current && current) {
      nav.current.scrollLeft = current.offsetLeft - (nav.current.clientWidth - current.offsetWidth) / 2;
    }
  }, [tab]);
  const served = hasOverview() ? tabs : tabs.filter(([key]) => !EXTENSION_TABS.has(key));
  return html`<nav ref=${nav} class="tabs" aria-label="Of this subject">
    ${
    served.map(([key, words, address]) =>
      html`<a key=${key} href=${address} aria-current=${key === tab ? "page" : undefined}>${words}${
        key in counts && html`<span class="n num">${short(counts[key])}</span>`
      }</a>`
    )
  }
  </nav>`;
}
