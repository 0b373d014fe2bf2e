/** The head of the editor: the subject, the verdict, the start, and the view. */
import { TypeBadge, VerdictBadge } from "../../parts/badges.js";
import { gapFact } from "../../api/fact.js";
import { GapBadge } from "../../parts/gap.js";
import { Segmented } from "../../parts/buttons.js";
import { Shown } from "../../parts/hostile.js";
import { Select } from "../../parts/menus.js";
import { path } from "../../api/encode_url.js";
import { href, route, setQuery } from "../../state/routes.js";
import { html } from "../../vendor/ui.js";
import { allows } from "./checking.js";
import { refusingMode } from "./register.js";
import { latestOf } from "./draft/stored_text.js";

/**
 * @import { Fact } from "../../api/fact.js"
 * @import { Mode } from "./meanwhile/subject_facts.js"
 * @param {{
 *   subject: string, versions: number[], level: Fact<string>, mode: Fact<Mode>, draft: import("./draft/drafts.js").Draft,
 *   check: import("./places/check.d.ts").Check,
 * }} props
 */
export function EditHead({ subject, versions, level, mode, draft, check }) {
  const { query } = route.value;
  const next = latestOf(versions) + 1;
  // A draft may begin with a deleted version.
  const starts = [...new Set([...versions, draft.from ?? next])].sort((one, other) => other - one);
  return html`
    <header class="head tabless">
      <ol class="crumb">
        <li><a href=${href("/subjects")}>Subjects</a></li>
        ${draft.from !== null &&
          html`<li><a href=${href(path`/subjects/${subject}`)}><${Shown} name text=${subject} /></a></li>`}
        <li>${draft.from === null ? "new subject" : `version ${next}, proposed`}</li>
      </ol>
      <div class="head-row">
        <div class="head-name">
          <h1 tabindex="-1"><${Shown} name text=${subject || "New schema"} /></h1>
          <${TypeBadge} type=${draft.type} />
          <${Verdict} check=${check} versions=${versions} level=${level} mode=${mode} />
        </div>
        ${draft.from !== null && html`
          <div class="head-actions">
            <span class="s dim" aria-hidden="true">Start from</span>
            <${Select} label="Start from" value=${String(draft.from)}
              options=${starts.map((version) => [String(version), `version ${version}`])}
              onChange=${(/** @type {string} */ version) => setQuery({ from: version })} />
            <${Segmented} label="View" value=${query.view === "split" ? "split" : "edit"}
              options=${[["edit", "Edit"], ["split", `Beside version ${draft.from}`]]}
              onChange=${(/** @type {string} */ view) => setQuery({ view: view === "edit" ? null : view })} />
          </div>
        `}
      </div>
    </header>
  `;
}

/** @param {{check: import("./places/check.d.ts").Check, versions: number[], level: Fact<string>, mode: Fact<Mode>}} props */
function Verdict({ check, versions, level, mode }) {
  const refusing = refusingMode(mode);
  if (refusing) return html`<${VerdictBadge} ok=${false} text=${`refused by the mode ${refusing.mode}`} />`;
  if (check.failure) return html`<${GapBadge} fact=${gapFact(check.failure)} name="verdict" />`;
  if (check.invalid) return html`<${VerdictBadge} ok=${false} text="not a schema" />`;
  if (check.checked === null || versions.length === 0) return null;
  if (level.gap !== null) {
    if (!check.checked.plain) return html`<${GapBadge} fact=${level} name="level" />`;
    const { compatible } = check.checked.plain;
    return html`<${VerdictBadge} ok=${compatible} text=${compatible ? "allowed" : "refused"} />`;
  }
  const ok = allows(check.checked, versions, level.value);
  return html`<${VerdictBadge} ok=${ok} text=${`${ok ? "allowed" : "refused"} under ${level.value}`} />`;
}
