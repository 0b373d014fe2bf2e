/**
 * Compares any two versions of any two subjects: which version reads which, what changed, and the registry's findings
 * by line.
 */

import { CurlButton } from "../../parts/copying.js";
import { LinkButton } from "../../parts/buttons.js";
import { Loaded } from "../../parts/states.js";
import { SubjectHead } from "../subject/subject_head.js";
import { useRequest } from "../../parts/use_request.js";
import { useSubject } from "../subject/use_subject.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { recordName } from "../../text/record_name.js";
import { may } from "../../state/signals.js";
import { html } from "../../vendor/ui.js";
import { ComparisonView } from "./comparison_view.js";
import { load } from "./load.js";
import { fieldsAfter } from "./words.js";

/** @import { ViewProps } from "../../state/types.d.ts" */

/** @param {ViewProps} props */
export default function ComparePage({ params, query }) {
  const { subject } = params;
  const { from = "", to = "", fromSubject = "" } = query;
  const facts = useSubject(subject);
  const request = useRequest((signal) => load(subject, query, signal), [subject, from, to, fromSubject]);
  const shown = request.data;
  const curled = {
    method: "GET",
    path: path`/subjects/${subject}/compare`,
    query: { from: shown?.from.version ?? from, to: shown?.to.version ?? to, fromSubject },
  };
  const actions = html`
    <${CurlButton} request=${curled} />
    <${LinkButton}
      kind="primary"
      href=${href(path`/subjects/${subject}/edit`, { from: shown?.to.version ?? to })}
      reason=${may("register", subject).reason}
    >Propose version ${facts ? facts.version + 1 : ""}</${LinkButton}>
  `;
  return html`
    <${SubjectHead} subject=${subject} tab="compare" version=${shown?.to.version} actions=${actions}
      name=${shown ? recordName(shown.to.schema, shown.to.schemaType ?? "AVRO") : ""}
      counts=${{ fields: shown?.comparison ? fieldsAfter(shown.comparison) : undefined }} />
    <div class="page compare">
      <${Loaded} request=${request} rows=${12} height=${32}>
            ${(/** @type {import("./load.js").Loaded} */ loaded) =>
              html`
                <${ComparisonView} loaded=${loaded} subject=${subject} query=${query} facts=${facts}
                  key=${`${loaded.from.subject} ${loaded.from.version} ${loaded.to.version}`} />
              `}
          </${Loaded}>
        </div>
  `;
}
