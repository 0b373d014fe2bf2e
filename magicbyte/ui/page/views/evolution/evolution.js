/** Evolution: all versions of a subject, their changes, and which version reads which. */

import { factOf } from "../../api/fact.js";
import * as registry from "../../api/registry.js";
import { isMissingRoute } from "../../api/transport.js";
import { allVersions } from "../../api/subject_versions.js";
import { LinkButton } from "../../parts/buttons.js";
import { CurlButton } from "../../parts/copying.js";
import { GapPart } from "../../parts/gap.js";
import { Empty, Loaded } from "../../parts/states.js";
import { SubjectHead } from "../subject/subject_head.js";
import { useRequest } from "../../parts/use_request.js";
import { useSubject } from "../subject/use_subject.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { may } from "../../state/signals.js";
import { html, useMemo } from "../../vendor/ui.js";
import { useSubjectKeys } from "../subject/subject_keys.js";
import { useChanges } from "../subject/use_changes.js";
import { NearestSubjects } from "../subject/nearest_subjects.js";
import { useUndelete } from "../subject/undelete.js";
import { counted, numbered } from "../../text/counted.js";
import { nextStep, rowsOf } from "./rows.js";
import { Strip } from "./strip.js";
import { VersionRow } from "./version_row.js";

/** @import { Fact } from "../../api/fact.js" */
/** @import { ViewProps } from "../../state/types.d.ts" */

/** The most comparisons in one answer of the registry. */
const MOST_STEPS = 100;

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
  const next = versions.data && steps.data ? nextStep(versions.data, steps.data) : null;
  const older = useRequest(
    next === null ? null : (signal) => olderSteps(subject, /** @type {any[]} */ (versions.data), next, signal),
    [subject, changes, next],
  );
  // The list of schemas omits versions that the user may not read, so it may be empty.
  const empty = versions.data?.length === 0;
  const named = useRequest(
    empty ? (signal) => factOf(registry.versions(subject, { signal, deleted: true })) : null,
    [subject, changes, empty, "named"],
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
              entries.length === 0
                ? html`<${Loaded} request=${named}>${(/** @type {Fact<number[]>} */ numbers) =>
                  html`<${NoVersions} numbers=${numbers} subject=${subject} />`}</${Loaded}>`
                : html`
                  <${Versions} entries=${entries} steps=${steps} older=${older}
                    pending=${next !== null && older.loading} subject=${subject} undelete=${undelete} />
                `}
          </${Loaded}>
        </div>
  `;
}

/**
 * Reads the comparisons before a version, page by page: the registry limits each list by count and by effort.
 * @param {string} subject
 * @param {import("../../api/subject_versions.js").Entry[]} entries
 * @param {number | null} next
 * @param {AbortSignal} signal
 */
async function olderSteps(subject, entries, next, signal) {
  /** @type {import("../../text/answers.d.ts").Comparison[]} */
  const all = [];
  for (let to = next; to !== null;) {
    try {
      const part = await registry.compare(subject, { consecutive: true, to, limit: MOST_STEPS }, { signal });
      all.push(...part);
      to = part.length === 0 ? null : nextStep(entries, part);
    } catch (error) {
      // Two versions may be too large to compare. The rows of older versions then say 'not compared'.
      if (all.length === 0) throw error;
      return { all, error };
    }
  }
  return { all, error: null };
}

/** @param {{entries: any[], steps: any, older: any, pending: boolean, subject: string, undelete: any}} props */
function Versions({ entries, steps, older, pending, subject, undelete }) {
  const compared = !isMissingRoute(steps.error);
  const known = useMemo(() => [...steps.data ?? [], ...older.data?.all ?? []], [steps.data, older.data]);
  const rows = useMemo(() => rowsOf(entries, compared ? known : null), [entries, known, compared]);
  const waiting = (steps.loading && !steps.data) || pending;
  const problem = steps.error ?? older.error ?? older.data?.error;
  return html`${compared && html`<${Strip} rows=${rows} subject=${subject} />`}
    <ol class="card versions" aria-label="Versions, the newest first">
      ${
    rows.map((row) =>
      html`
        <${VersionRow} row=${row} subject=${subject} undelete=${undelete} compared=${compared} waiting=${waiting}
          key=${row.version} />
      `
    )
  }
    </ol>
    ${
    problem && compared &&
    html`<p class="dim s" role="status">Not all changes are shown: ${problem.message}</p>`
  }`;
}

/**
 * @param {{numbers: Fact<number[]>, subject: string}} props `numbers`: the registry's list of the subject's versions
 */
function NoVersions({ numbers, subject }) {
  if (numbers.gap !== "absent" && numbers.gap !== null) return html`<${GapPart} fact=${numbers} />`;
  if (numbers.gap === null && numbers.value.length > 0) {
    const { length } = numbers.value;
    const reason = `The subject has ${counted(length, "version")}, and the access rules do not let you read ` +
      numbered(length, "it.", "them.");
    return html`<${GapPart} fact=${{ gap: "forbidden", reason }} />`;
  }
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
