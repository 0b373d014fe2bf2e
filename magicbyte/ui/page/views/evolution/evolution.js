/** Evolution: all versions of a subject, what each changed, and who reads whom. */

import * as registry from "../../api/registry.js";
import { isMissingRoute } from "../../api/features.js";
import { allVersions } from "../../api/subject_versions.js";
import { LinkButton } from "../../parts/buttons.js";
import { CurlButton } from "../../parts/copying.js";
import { Empty, Loaded } from "../../parts/states.js";
import { SubjectHead } from "../subject/subject_head.js";
import { useRequest } from "../../parts/use_request.js";
import { useSubject } from "../subject/use_subject.js";
import { href, path } from "../../state/routes.js";
import { may } from "../../state/signals.js";
import { html, useMemo } from "../../vendor/ui.js";
import { useSubjectKeys } from "../subject/subject_keys.js";
import { useChanges } from "../subject/use_changes.js";
import { NearestSubjects } from "../subject/nearest_subjects.js";
import { useUndelete } from "../subject/undelete.js";
import { rowsOf } from "./rows.js";
import { Strip } from "./strip.js";
import { VersionRow } from "./version_row.js";

/** @import { ViewProps } from "../../state/types.d.ts" */

/** @param {ViewProps} props */
export default function EvolutionPage({ params }) {
  const { subject } = params;
  const facts = useSubject(subject);
  const changes = useChanges(facts);
  const versions = useRequest((signal) => allVersions(subject, { signal }), [subject, changes]);
  const steps = useRequest(
    (signal) => registry.compare(subject, { consecutive: true }, { signal }),
    [subject, changes, "steps"],
  );
  const live = (versions.data ?? []).filter((entry) => !entry.deleted).map((entry) => entry.version).reverse();
  useSubjectKeys(subject, undefined, live);
  const undelete = useUndelete(subject, () => {
    versions.reload();
    steps.reload();
  });
  const curled = { method: "GET", path: path`/subjects/${subject}/compare`, query: { consecutive: true } };
  return html`
    <${SubjectHead} subject=${subject} tab="evolution"
      actions=${html`
        <${CurlButton} request=${curled} />
        <${LinkButton} kind="primary" href=${href(path`/subjects/${subject}/edit`)} reason=${may("register", subject)
          .reason}>
                  Propose version${facts ? ` ${facts.version + 1}` : ""}
                </${LinkButton}>
      `}
    />
    <div class="page evolution">
      <${Loaded} request=${versions} rows=${6} height=${64}>
            ${(/** @type {import("../../api/subject_versions.js").Entry[]} */ entries) =>
              html`<${Versions} entries=${entries} steps=${steps} subject=${subject} undelete=${undelete} />`}
          </${Loaded}>
        </div>
  `;
}

/** @param {{entries: any[], steps: any, subject: string, undelete: any}} props */
function Versions({ entries, steps, subject, undelete }) {
  const compared = !isMissingRoute(steps.error);
  const rows = useMemo(() => rowsOf(entries, compared ? steps.data ?? [] : null), [entries, steps.data, compared]);
  if (rows.length === 0) {
    return html`
      <${Empty} title="No version" actions=${html`
        <${LinkButton} kind="primary"
          href=${href(path`/subjects/${subject}/edit`)} reason=${may("register", subject)
            .reason}>Propose the first version</${LinkButton}>
              <${NearestSubjects} subject=${subject} />
              <${LinkButton} kind="quiet" href=${href("/subjects", {
                q: subject,
              })}>Search for ${subject}</${LinkButton}>
      `}>
        <p>The registry has no version of <span class="mono anywhere">${subject}</span>, nor a soft-deleted one.</p>
        </${Empty}>
    `;
  }
  return html`${compared && html`<${Strip} rows=${rows} subject=${subject} />`}
    <ol class="card versions" aria-label="Versions, the newest first">
      ${
    rows.map((row) =>
      html`
        <${VersionRow} row=${row} subject=${subject} undelete=${undelete} compared=${compared} waiting=${steps
          .loading && !steps.data}
          key=${row.version} />
      `
    )
  }
    </ol>
    ${
    steps.error && compared &&
    html`<p class="dim s" role="status">The changes are not shown: ${steps.error.message}</p>`
  }`;
}
