/** Proposes the next version of a subject: `/subjects/{subject}/edit?from=`. */
import { factOf, mapped } from "../../api/fact.js";
import * as registry from "../../api/registry.js";
import { LinkButton } from "../../parts/buttons.js";
import { Shown } from "../../parts/hostile.js";
import { Failure, Loaded } from "../../parts/states.js";
import { useRequest } from "../../parts/use_request.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { html, useMemo } from "../../vendor/ui.js";
import { draftOf } from "./draft/drafts.js";
import { useSubjectFacts } from "./meanwhile/subject_facts.js";
import { laidOutInWorker, latestOf } from "./draft/stored_text.js";
import { Workbench } from "./workbench.js";

/**
 * @import { SubjectFacts } from "./meanwhile/subject_facts.js"
 * @typedef {{subject: string, start: any, startText: string, facts: SubjectFacts}} Loading
 */

/** @param {import("../../state/types.d.ts").ViewProps} props */
export default function EditPage({ params: { subject }, query: { from } }) {
  const request = useRequest((signal) => load(subject, from ?? "latest", signal), [subject, from ?? ""]);
  if (request.error?.status === 404) {
    return html`
      <div class="page">
        <h1 tabindex="-1">
          <${Shown} name text=${subject} />
        </h1>
        <${Failure} error=${request.error}>
          <${LinkButton} href=${href("/new", { subject })}>Register it as a new subject</${LinkButton}>
          <${LinkButton} href=${href(path`/subjects/${subject}`)}>All versions</${LinkButton}>
        </${Failure}>
      </div>
    `;
  }
  return html`
    <${Loaded} request=${request} rows=${12}>
      ${(/** @type {Loading} */ loaded) =>
        html`
          <${VersionEditor} key=${`${subject} ${loaded.start.version}`} ...${loaded} />
        `}
    </${Loaded}>
  `;
}

/** @param {Loading} props */
function VersionEditor({ subject, start, startText, facts: loaded }) {
  const facts = useSubjectFacts(subject, loaded);
  // The draft keeps its base, the latest version at its start, even if newer versions arrive.
  const began = useMemo(() => draftOf(start, latestOf(loaded.versions), startText), [start]);
  return html`
    <${Workbench} subject=${subject} draftKey=${subject} began=${began} startText=${startText} facts=${facts}
      level=${facts.level} />
  `;
}

/**
 * @param {string} subject
 * @param {string} from
 * @param {AbortSignal} signal
 * @returns {Promise<Loading>}
 */
async function load(subject, from, signal) {
  const [versions, start, config, mode] = await Promise.all([
    registry.versions(subject, { signal }),
    // Compare can also start from deleted versions.
    registry.version(subject, from, { signal, deleted: from !== "latest" }),
    // A user who may write a subject need not have the right to read its settings.
    factOf(registry.config(subject, { signal })),
    factOf(registry.mode(subject, { signal })),
  ]);
  return {
    subject,
    start,
    startText: await laidOutInWorker(start, signal),
    facts: { versions, level: mapped(config, ({ compatibilityLevel }) => compatibilityLevel), mode },
  };
}
