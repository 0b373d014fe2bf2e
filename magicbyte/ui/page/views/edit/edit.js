/** Proposes the next version of a subject: `/subjects/{subject}/edit?from=`. */
import { factOf, mapped } from "../../api/fact.js";
import * as registry from "../../api/registry.js";
import { LinkButton } from "../../parts/buttons.js";
import { Shown } from "../../parts/hostile.js";
import { Failure, Loaded } from "../../parts/states.js";
import { useRequest } from "../../parts/use_request.js";
import { href, path } from "../../state/routes.js";
import { html } from "../../vendor/ui.js";
import { draftOf } from "./draft/drafts.js";
import { laidOut, latestOf } from "./draft/stored_text.js";
import { Workbench } from "./workbench.js";

/**
 * @import { Fact } from "../../api/fact.js"
 * @import { Mode } from "./register.js"
 * @typedef {{
 *   subject: string, versions: number[], start: any, startText: string, level: Fact<string>, mode: Fact<Mode>,
 * }} Loading
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
          <${Workbench} key=${`${subject} ${loaded.start.version}`} ...${loaded} draftKey=${subject}
            began=${draftOf(loaded.start, latestOf(loaded.versions), loaded.startText)} />
        `}
    </${Loaded}>
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
    registry.version(subject, from, { signal }),
    // Who may write a subject need not be allowed to read its settings.
    factOf(registry.config(subject, { signal })),
    factOf(registry.mode(subject, { signal })),
  ]);
  return {
    subject,
    versions,
    start,
    startText: laidOut(start),
    level: mapped(config, ({ compatibilityLevel }) => compatibilityLevel),
    mode,
  };
}
