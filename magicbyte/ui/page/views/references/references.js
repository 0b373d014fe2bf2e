/** References: the versions that a version refers to, and the versions that refer to it. */

import * as registry from "../../api/registry.js";
import { CurlButton } from "../../parts/copying.js";
import { Note } from "../../parts/cards.js";
import { Shown } from "../../parts/hostile.js";
import { isMissingRoute } from "../../api/transport.js";
import { Loaded, NotServed } from "../../parts/states.js";
import { SubjectHead } from "../subject/subject_head.js";
import { useRequest } from "../../parts/use_request.js";
import { useSubject } from "../subject/use_subject.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { config } from "../../state/signals.js";
import { html } from "../../vendor/ui.js";
import { GraphColumns } from "./graph_columns.js";
import { holdersOf, treeOf, usersOf } from "./tree.js";
import { useSubjectKeys } from "../subject/subject_keys.js";
import { counted, numbered } from "../../text/counted.js";

/** @import { ViewProps } from "../../state/types.d.ts" */
/** @import { Graph } from "./tree.js" */

/** The most holders of this version that are named. */
const NAMED = 10;

/** @param {ViewProps} props */
export default function ReferencesPage({ params }) {
  const { subject, version } = params;
  const facts = useSubject(subject);
  const request = useRequest((signal) => registry.graph(subject, version, {}, { signal }), [subject, version]);
  const number = request.data?.nodes[0].version;
  useSubjectKeys(subject, number, facts ? [facts.version] : []);
  const curled = { method: "GET", path: path`/subjects/${subject}/versions/${version}/graph` };
  return html`
    <${SubjectHead} subject=${subject} tab="references" version=${version}
      counts=${{ references: request.data && !config.value.accessRules && related(request.data) }}
      crumbs=${number ? [[`version ${number}`]] : []} actions=${html`<${CurlButton} request=${curled} />`} />
    <div class="page references">
      ${isMissingRoute(request.error) ? html`<${NotServed} />` : html`
        <${Loaded} request=${request} rows=${5} height=${48}>
          ${(/** @type {Graph} */ graph) => html`<${ReferenceGraph} graph=${graph} />`}
        </${Loaded}>
      `}
        </div>
  `;
}

/** The number of versions connected to the start, in both directions, if none is hidden. @param {Graph} graph */
const related = ({ nodes, cut }) => cut ? `${nodes.length - 1}+` : nodes.length - 1;

/** @param {number} version to which nothing in the graph refers */
const unheldWords = (version) =>
  config.value.accessRules
    ? `Nothing that you may see refers to version ${version}. A schema that you may not see can keep it from being deleted.`
    : `Nothing refers to version ${version}: no other schema keeps it from being deleted.`;

/** The number of users of the start, in words. @param {Graph} graph */
function usersWords(graph) {
  const { versions, subjects } = usersOf(graph);
  const least = graph.cut ? "at least " : "";
  return `used by ${least}${counted(versions, "version")} of ${least}${counted(subjects, "subject")}`;
}

/** @param {{graph: Graph}} props */
function ReferenceGraph({ graph }) {
  const [start] = graph.nodes;
  const holders = holdersOf(graph);
  return html`${
    holders.length > 0
      ? html`<${Note} tone="info" who="Held">
        Version ${start.version} cannot be deleted while${" "}
        ${counted(holders.length, "version")} ${numbered(holders.length, "refers", "refer")} to it:${" "}
        ${
        holders.slice(0, NAMED).map((node, index) =>
          html`
            ${index > 0 && ", "}<a class="link anywhere" key=${index}
              href=${href(
                path`/subjects/${node.subject}/versions/${node.version}/references`,
              )}><span class="mono"><${Shown} name text=${node.subject} /></span> v${node.version}</a>
          `
        )
      }${holders.length > NAMED && ` and ${holders.length - NAMED} more`}.
      </${Note}>`
      : html`<p class="dim s">${unheldWords(start.version)}</p>`
  }
    <${GraphColumns} start=${start} users=${usersWords(graph)} references=${treeOf(graph, "references")} referrers=${
    treeOf(graph, "referrers")
  } />
    ${graph.cut && html`<p class="dim s">The graph goes on beyond what is shown: open a version to follow it.</p>`}`;
}
