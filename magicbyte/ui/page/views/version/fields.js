/**
 * A schema as documentation: each field with its type in words, its default, doc, tags, and the version that added it.
 */

import * as registry from "../../api/registry.js";
import { Badge } from "../../parts/badges.js";
import { isMissingRoute } from "../../api/transport.js";
import { Empty, Loaded, NotServed } from "../../parts/states.js";
import { Icon } from "../../parts/icon.js";
import { Shown } from "../../parts/hostile.js";
import { useRequest } from "../../parts/use_request.js";
import { path } from "../../api/encode_url.js";
import { href, route } from "../../state/routes.js";
import { html, useEffect, useMemo } from "../../vendor/ui.js";
import { SHORT, VirtualList } from "../code/virtual_list.js";
import { FieldFilter, filtered } from "./field_filter.js";
import { sinceOf } from "./since.js";

/** @import { Outline, OutlineNode } from "../../text/answers.d.ts" */
/** @import { RequestState } from "../../parts/use_request.js" */

/** Kinds that stand for a value in the data. */
const VALUES = new Set(["field", "property"]);
/** Kinds whose row is a heading for the rows below it. */
const TYPES = new Set(["record", "enum", "fixed", "message", "service", "oneof", "definition", "extend", "file"]);

/** The minimum height of a row, in px. */
const ROW_HEIGHT = 37;
/** @typedef {{node: OutlineNode, depth: number}} Row */

/** The number of fields of an outline. @param {OutlineNode} node @returns {number} */
export function fieldCount(node) {
  return node.children.reduce((sum, child) => sum + fieldCount(child), VALUES.has(node.kind) ? 1 : 0);
}

/** @param {{request: RequestState<Outline>, subject: string, version: number}} props */
export function Fields({ request, subject, version }) {
  if (isMissingRoute(request.error)) return html`<${NotServed} />`;
  return html`<${Loaded} request=${request} rows=${12} height=${36}>
    ${(/** @type {Outline} */ outline) =>
    html`<${FieldsTable} outline=${outline} subject=${subject} version=${version} />`}
  </${Loaded}>`;
}

/** @param {{outline: Outline, subject: string, version: number}} props */
function FieldsTable({ outline, subject, version }) {
  const rows = useMemo(() => flattened(outline.outline), [outline]);
  const history = useRequest(
    version > 1 ? (signal) => registry.compare(subject, { consecutive: true, to: version }, { signal }) : null,
    [subject, version, "since"],
  );
  const since = useMemo(() => sinceOf(rows.map((row) => row.node.path), history.data ?? [], version), [
    rows,
    history.data,
  ]);
  const find = route.value.query.find ?? "";
  const kept = useMemo(() => filtered(rows, find), [rows, find]);
  const named = decoded(route.value.hash);
  useEffect(() => {
    if (named) document.getElementById(named)?.scrollIntoView({ block: "center" });
  }, [rows]);
  const root = outline.outline;
  if (rows.length === 0) {
    return html`
      <${Empty} title="No fields">
        <p>This schema is <span class="mono">${root.type || root.kind}</span>.</p>
        </${Empty}>
    `;
  }
  return html`<section class="card fields-card" aria-label="Fields">
    ${
    root.doc && html`
      <p class="body dim anywhere">
        <${Shown} text=${root.doc} />
      </p>
    `
  }
    ${rows.length > SHORT && html`<${FieldFilter} find=${find} kept=${kept.length} all=${rows.length} />`}
    <table class="fields-table">
      <thead><tr><th>Name</th><th>Type</th><th>Description</th><th class="r">Since</th></tr></thead>
      <${VirtualList} items=${kept} tag="tbody" rowHeight=${ROW_HEIGHT}
        goal=${named ? kept.findIndex(({ node }) => node.path === named) : -1}
        find=${(/** @type {number} */ row) => document.getElementById(kept[row].node.path)}
        render=${(/** @type {Row} */ { node, depth }) =>
    html`<${FieldRow} node=${node} depth=${depth} since=${since.get(node.path)} on=${
      node.path === named
    } key=${node.path} />`} />
    </table>
    ${
    outline.cut &&
    html`<p class="body dim s">The schema has more entries than are shown here; its text has them all.</p>`
  }
  </section>`;
}

/**
 * The entries below the root as a flat list, with their depth.
 * @param {OutlineNode} root
 * @returns {Row[]}
 */
function flattened(root) {
  /** @type {Row[]} */
  const rows = [];
  const open = root.children.map((node) => ({ node, depth: 0 })).reverse();
  for (let row = open.pop(); row; row = open.pop()) {
    rows.push(row);
    for (const child of [...row.node.children].reverse()) open.push({ node: child, depth: row.depth + 1 });
  }
  return rows;
}

/** @param {{node: OutlineNode, depth: number, since: string | undefined, on: boolean}} props */
function FieldRow({ node, depth, since, on }) {
  const { name, kind, number, doc, tags, aliases, attributes } = node;
  const shown = name || node.path;
  return html`
    <tr id=${node.path} class=${`${on ? "on" : ""} ${TYPES.has(kind) ? "types" : ""}`} style=${{
      "--depth": String(depth),
    }}>
      <td>
        <span class="name">
            ${!VALUES.has(kind) && html`<span class="faint xs">${kind}</span>`}
            <b class="mono anywhere"><${Shown} text=${shown} /></b>
            ${number !== null && html`<span class="faint mono xs">#${number}</span>`}
            <a class="anchor" href=${"#" + encodeURIComponent(node.path)} aria-label=${`Link to ${shown}`}
              onClick=${follow}><${Icon} name="link" size=${13} /></a>
          </span>
      </td>
      <td class="mono type">
        <${TypeWords} node=${node} />
      </td>
      <td class="doc">
          <${Shown} text=${doc} />
          ${(tags.length > 0 || aliases.length > 0 || Object.keys(attributes).length > 0) &&
            html`<span class="row wrap extras">
        ${
              tags.map((tag) =>
                html`
                  <${Badge} tone="warn" key=${tag}>
                    <${Shown} text=${tag} />
                    </${Badge}>
                `
              )
            }
        ${
              aliases.map((alias) =>
                html`<span class="xs faint" key=${alias}>alias <span class="mono"><${Shown} text=${alias} /></span></span>`
              )
            }
        ${
              Object.entries(attributes).map(([key, value]) =>
                html`<span class="xs faint mono anywhere" key=${key}><${Shown} text=${`${key}: ${value}`} /></span>`
              )
            }
      </span>`}
        </td>
      <td class="r faint s num">${since ?? ""}</td>
    </tr>
  `;
}

/** Follows a link within the page; keeps the path and the query. @param {MouseEvent} event */
function follow(event) {
  const link = /** @type {HTMLAnchorElement} */ (event.currentTarget);
  event.preventDefault();
  const { path: page, query } = route.peek();
  history.replaceState(history.state, "", href(page, query, { hash: link.hash.slice(1) }));
  route.value = { ...route.peek(), hash: link.hash.slice(1) };
}

/** The type in words (a link if another place defines it) and the default. @param {{node: OutlineNode}} props */
function TypeWords({ node }) {
  const { type, reference } = node;
  const words = html`<${Shown} text=${type || ""} />`;
  const fallback = node.default === null
    ? ""
    : html`${" "}<span class="dim">= <${Shown} text=${node.default} /></span>`;
  if (!reference) return html`${words}${fallback}`;
  const address = reference.subject !== null && reference.version !== null
    ? href(path`/subjects/${reference.subject}/versions/${reference.version}`, { view: "fields" })
    : reference.path !== null
    ? "#" + encodeURIComponent(reference.path)
    : "";
  const linked = type || reference.name;
  if (!address) return html`<${Shown} text=${linked} />${fallback}`;
  const inside = address.startsWith("#") ? follow : undefined;
  return html`<a class="link" href=${address} onClick=${inside}><${Shown} text=${linked} /></a>${fallback}`;
}

/** @param {string} hash */
function decoded(hash) {
  try {
    return decodeURIComponent(hash);
  } catch {
    return hash;
  }
}
