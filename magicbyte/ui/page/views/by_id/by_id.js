/** The uses of a schema id or a guid: the text, and the subjects by context. */

import { TypeBadge } from "../../parts/badges.js";
import { CopyButton, CurlButton } from "../../parts/copying.js";
import { GapWords, perhapsHidden, visibly } from "../../parts/gap.js";
import { Shown } from "../../parts/hostile.js";
import { Card } from "../../parts/cards.js";
import { Failure, Loaded, Loading } from "../../parts/states.js";
import { Crumb } from "../subject/subject_head.js";
import { useRequest } from "../../parts/use_request.js";
import { path } from "../../api/encode_url.js";
import { href, route, setQuery } from "../../state/routes.js";
import { config, context } from "../../state/signals.js";
import { Lines } from "../../text/positions.js";
import { recordName } from "../../text/record_name.js";
import { html, useMemo, useState } from "../../vendor/ui.js";
import { CodeLines } from "../code/code_lines.js";
import { FindBox, useFind } from "../code/find_box.js";
import { useLayouts } from "../code/use_layouts.js";
import { SHORT } from "../code/virtual_list.js";
import { usesOf } from "../../api/uses.js";

/** @import { ViewProps } from "../../state/types.d.ts" */
/** @import { SchemaUses } from "../../api/uses.js" */

/** @param {ViewProps} props */
export default function ByIdPage({ params }) {
  const { id, guid } = params;
  const request = useRequest((signal) => usesOf({ id, guid }, signal), [id ?? "", guid ?? "", context.value]);
  const title = id === undefined ? html`Schema <span class="mono">${guid}</span>` : `Schema id ${id}`;
  const curled = {
    method: "GET",
    path: id === undefined ? path`/schemas/guids/${guid}` : path`/schemas/ids/${id}`,
    context: id !== undefined,
  };
  return html`
    <header class="head tabless">
      <${Crumb} items=${[["Subjects", href("/subjects")], [id === undefined ? "by guid" : "by id"]]} />
      <div class="head-row">
        <div class="head-name"><h1 tabindex="-1">${title}</h1>
              ${request.data && html`
                <${TypeBadge} type=${request.data.type} />
                <span class="mono dim s anywhere">${recordName(request.data.schema, request.data.type)}</span>
              `}
            </div>
        <div class="head-actions">
          <${CurlButton} request=${curled} />
        </div>
      </div>
    </header>
    <div class="page by-id stack">
          ${request.error?.status === 404
            ? html`
              <${Failure} error=${request.error}
              >${perhapsHidden() && html`<p class="dim s">${perhapsHidden()}</p>`}<a class="btn" href=${href(
                "/subjects",
              )}>All subjects</a></${Failure}>
            `
            : html`<${Loaded} request=${request}>${(/** @type {SchemaUses} */ found) =>
              html`<${Uses} found=${found} />`}</${Loaded}>`}
        </div>
  `;
}

/** @param {{found: SchemaUses}} props */
function Uses({ found }) {
  const { layouts, error } = useLayouts(found.schema, found.type);
  return html`
    <${Card} title="Where it is used" bare aside=${config.value.accessRules &&
      html`<span class="faint s">what you may see</span>`}>
      <table>
        <thead>
          <tr>
            <th>Context</th>
            <th>Id</th>
            <th>Subjects and versions</th>
          </tr>
        </thead>
        <tbody>
              ${found.contexts.map(({ name, id, uses }) =>
                html`
                  <tr key=${name}>
                    <td>${name || "default"}</td>
                    <td class="mono num">${id}</td>
                    <td>${uses === null
                      ? html`<a class="link" href=${
                        href(path`/schemas/ids/${id}`, {}, { context: name })
                      }>see its subjects</a>`
                      : uses.gap !== null
                      ? html`<${GapWords} fact=${uses} />`
                      : uses.value.length === 0
                      ? html`<span class="faint">no version${visibly()}</span>`
                      : html`<ul class="uses">${
                        uses.value.map((use) =>
                          html`<${Use} ...${use} context=${name} key=${`${use.subject} ${use.version}`} />`
                        )
                      }</ul>`}</td>
                  </tr>
                `
              )}
            </tbody>
      </table>
      </${Card}>
      ${layouts
        ? html`<${TextCard} layout=${layouts.laidOut} />`
        : error
        ? html`<${Failure} error=${error} />`
        : html`<${Loading} rows=${14} height=${28} />`}
  `;
}

/** @param {{layout: import("../../text/pretty.js").Layout}} props */
function TextCard({ layout }) {
  const [selected, select] = useState(/** @type {[number, number] | null} */ (null));
  const lines = useMemo(() => new Lines(layout.text), [layout]);
  const found = useFind(lines.count > SHORT ? lines : null, route.value.query.find ?? "");
  return html`
    <${Card} bare title="Text" aside=${html`
      ${found && html`<${FindBox} found=${found} search=${(/** @type {string} */ find) => setQuery({ find })} />`}
      <${CopyButton} kind="small" text=${layout.text}>Copy</${CopyButton}>
    `}>
      <${CodeLines} layout=${layout} lines=${lines} selected=${selected} select=${select} found=${found}
        label="Text" />
      </${Card}>
  `;
}

/** @param {{subject: string, version: number, deleted: boolean, context: string}} props */
function Use({ subject, version, deleted, context: name }) {
  return html`<li><a class=${deleted ? "link mono struck" : "link mono"}
    href=${
    href(path`/subjects/${subject}/versions/${version}`, {}, { context: name })
  }><${Shown} name text=${subject} /> v${version}</a>
    ${
    deleted && html`
      <span class="faint xs">deleted</span>
    `
  }</li>`;
}
