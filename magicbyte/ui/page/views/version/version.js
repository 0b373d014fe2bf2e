/** A version: its text or its fields, and its facts. */

import { gapOf } from "../../api/fact.js";
import * as registry from "../../api/registry.js";
import { LinkButton } from "../../parts/buttons.js";
import { SubjectHead } from "../subject/subject_head.js";
import { Failure, Loading } from "../../parts/states.js";
import { useRequest } from "../../parts/use_request.js";
import { useSubject } from "../subject/use_subject.js";
import { Note } from "../../parts/cards.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { may } from "../../state/signals.js";
import { recordName } from "../../text/record_name.js";
import { html, useMemo, useRef } from "../../vendor/ui.js";
import { useSubjectKeys } from "../subject/subject_keys.js";
import { CopyAs } from "./copy_as.js";
import { fieldCount, Fields } from "./fields.js";
import { VersionSchema } from "./schema.js";
import { useChanges } from "../subject/use_changes.js";
import { NearestSubjects } from "../subject/nearest_subjects.js";
import { useUndelete } from "../subject/undelete.js";

/** @import { Outline } from "../../text/answers.d.ts" */
/** @import { ViewProps } from "../../state/types.d.ts" */

/** @param {ViewProps} props */
export default function VersionPage({ params, query }) {
  const { subject } = params;
  const asked = params.version;
  const facts = useSubject(subject);
  const changes = useChanges(facts);
  const version = useRequest((signal) => registry.version(subject, asked, { signal, deleted: true }), [subject, asked]);
  const outline = useRequest(
    (signal) => registry.outline(subject, asked, { signal, deleted: true }),
    [subject, asked, "outline"],
  );
  const numbers = useRequest((signal) => registry.versions(subject, { signal }), [subject, changes, "numbers"]);
  const data = version.data;
  // The shortcuts apply to the version in the address, also while it loads.
  useSubjectKeys(subject, /^\d+$/.test(asked) ? Number(asked) : data?.version, numbers.data ?? []);
  const fields = query.view === "fields";
  const name = useMemo(() => data ? recordName(data.schema, data.schemaType ?? "AVRO") : "", [data]);
  const undelete = useUndelete(subject, version.reload);
  return html`
    <${SubjectHead}
      subject=${subject}
      tab=${fields ? "fields" : "schema"}
      version=${asked}
      name=${name}
      crumbs=${data ? [[`version ${data.version}`]] : []}
      counts=${{ fields: outline.data ? fieldCount(outline.data.outline) : undefined }}
      actions=${data && html`<${VersionActions} subject=${subject} data=${data} facts=${facts} />`}
    />
    <div class="page version">
          ${data &&
            html`<${VersionWalk} subject=${subject} version=${data.version} numbers=${
              numbers.data ?? []
            } query=${query} />`}
          ${data?.deleted && html`<${Note} tone="warn" who="Deleted" actions=${undelete.button(data.version)}>
        Version ${data.version} is soft-deleted: consumers still read it by its id, and it is no longer compared.
      </${Note}>`}
          ${data && html`<${NewerLine} subject=${subject} shown=${data.version} facts=${facts} />`}
          ${version.error && !data
            ? html`<${MissingVersion} error=${version.error} again=${version.reload} subject=${subject} numbers=${
              numbers.data ?? []
            } />`
            : !data
            ? html`<${Loading} rows=${14} height=${28} onCancel=${version.cancel} />`
            : fields
            ? html`<${Fields} request=${outline} subject=${subject} version=${data.version} />`
            : html`<${VersionSchema} data=${data} subject=${subject} query=${query} key=${data.version} />`}
        </div>
  `;
}

/** @param {{subject: string, data: any, facts: any}} props */
function VersionActions({ subject, data, facts }) {
  return html`
    <${CopyAs} subject=${subject} data=${data} />
    <${LinkButton}
      kind="primary"
      href=${href(path`/subjects/${subject}/edit`, { from: data.version })}
      reason=${may("register", subject).reason}
    >Propose version${facts ? ` ${facts.version + 1}` : ""}</${LinkButton}>
  `;
}

/** @param {{subject: string, version: number, numbers: number[], query: Record<string, string>}} props */
function VersionWalk({ subject, version, numbers, query }) {
  const before = numbers.filter((number) => number < version).at(-1);
  const after = numbers.find((number) => number > version);
  /** @param {number | undefined} number @param {string} words @param {string} key */
  const step = (number, words, key) =>
    html`
      <${LinkButton}
        kind="small"
        href=${number === undefined
          ? undefined
          : href(path`/subjects/${subject}/versions/${number}`, { view: query.view })}
        reason=${number === undefined ? `There is no ${words} version.` : ""}
      >${number === undefined ? words : `version ${number}`} <kbd>${key}</kbd></${LinkButton}>
    `;
  return html`<nav class="version-walk row" aria-label="Versions">
    <b>Version ${version}</b>
    ${numbers.at(-1) === version && html`<span class="badge line">latest</span>`}
    <span class="grow"></span>
    ${numbers.length > 1 && step(before, "earlier", "[")}
    ${numbers.length > 1 && step(after, "later", "]")}
    ${
    before !== undefined && html`
      <${LinkButton} kind="small"
        href=${href(path`/subjects/${subject}/compare`, {
          from: before,
          to: version,
        })}>compare ${before} to ${version} <kbd>d</kbd></${LinkButton}>
    `
  }
  </nav>`;
}

/**
 * A line about a version that arrived while the page is open. The page never jumps to it.
 * @param {{subject: string, shown: number, facts: any}} props
 */
function NewerLine({ subject, shown, facts }) {
  const first = useRef(/** @type {number | null} */ (null));
  if (facts && first.current === null) first.current = facts.version;
  if (!facts || first.current === null || facts.version <= first.current || facts.version <= shown) return null;
  return html`<p class="newer s" role="status">
    Version ${facts.version} has come.${" "}
    <a class="link" href=${
    href(path`/subjects/${subject}/compare`, { from: shown, to: facts.version })
  }>Compare with it</a>${" or "}
    <a class="link" href=${href(path`/subjects/${subject}/versions/${facts.version}`)}>open it</a>.
  </p>`;
}

/** @param {{error: any, again: () => void, subject: string, numbers: number[]}} props */
function MissingVersion({ error, again, subject, numbers }) {
  const words = subject.split(/[^\p{L}\p{N}]+/u).filter(Boolean).join(" ");
  const ways = error.code === 40402 && numbers.length > 0
    ? numbers.slice(-5).map((number) =>
      html`<${LinkButton} href=${
        href(path`/subjects/${subject}/versions/${number}`)
      } key=${number}>Version ${number}</${LinkButton}>`
    )
    : html`
      <${NearestSubjects} subject=${subject} />
      <${LinkButton} kind="quiet" href=${href("/subjects", { q: words })}>Search for ${words}</${LinkButton}>
    `;
  // Offer other names only if the subject does not exist.
  const absent = gapOf(error) === "absent";
  return html`<${Failure} error=${error} again=${absent ? undefined : again}>${absent && ways}</${Failure}>`;
}
