/** The level. Before a new level is saved, the card shows which versions it would have refused. */
import { putConfig } from "../../api/registry.js";
import { LevelBadge } from "../../parts/badges.js";
import { Button } from "../../parts/buttons.js";
import { Card } from "../../parts/cards.js";
import { CurlButton } from "../../parts/copying.js";
import { Select } from "../../parts/menus.js";
import { Failure, Loading } from "../../parts/states.js";
import { toast } from "../../parts/toasts.js";
import { useRequest } from "../../parts/use_request.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { counted, numbered } from "../../text/counted.js";
import { html, useId, useState } from "../../vendor/ui.js";
import { LEVELS } from "../edit/places/levels.js";
import { MOST, refusedBy } from "./refused_by.js";
import { sent, settingsPath } from "./send.js";
import { DisabledReason } from "./disabled_reason.js";
import { writeReason } from "./write_reason.js";

/**
 * @param {{
 *   subject: string, mode: string, level: string, origin?: string, inherited?: string, versions: number[], onChanged: () => void,
 * }} props
 */
export function LevelCard({ subject, mode, level, origin, inherited, versions, onChanged }) {
  const [chosen, setChosen] = useState(level);
  const reason = writeReason("config", subject, mode);
  const why = useId();
  const isOwn = origin === "subject" || (subject === "" && origin === "global");
  const save = () =>
    sent(() => putConfig(subject, { compatibility: chosen }), () => {
      toast(`The level is ${chosen}.`, { action: { label: "Undo", onClick: () => back() } });
      onChanged();
    });
  const back = () => sent(() => putConfig(subject, { compatibility: isOwn ? level : null }), onChanged);
  const inherit = () =>
    sent(() => putConfig(subject, { compatibility: null }), () => {
      toast("The level is the inherited one.", {
        action: { label: "Undo", onClick: () => sent(() => putConfig(subject, { compatibility: level }), onChanged) },
      });
      onChanged();
    });
  const request = { method: "PUT", path: "/config" + settingsPath(subject), body: { compatibility: chosen } };
  return html`
    <${Card} title="Compatibility level" aria-label="Compatibility level" aside=${html`
      <${LevelBadge} level=${level} origin=${origin}
        ofRegistry=${subject === ""} />
    `}>
      <div class="stack">
        <div class="row wrap">
          <${Select} label="Compatibility level" mono value=${chosen} options=${LEVELS} onChange=${setChosen}
            disabled=${reason !== ""} aria-describedby=${reason ? why : undefined} />
          <${Button} kind="primary" reason=${reason} disabled=${chosen === level}
            onClick=${save}>Set ${chosen}</${Button}>
          ${subject !== "" && isOwn && html`
            <${Button} reason=${reason} onClick=${inherit}>Inherit${inherited ? ` ${inherited}` : ""}</${Button}>
          `}
          <span class="grow"></span>
          <${CurlButton} kind="quiet" request=${request} />
        </div>
        <${DisabledReason} id=${why} reason=${reason} />
        ${chosen !== level && versions.length > 1 && html`
          <${Preview} key=${chosen} subject=${subject} level=${chosen} versions=${versions} />
        `}
        ${chosen !== level && subject !== "" && versions.length <= 1 && html`
          <p class="s dim" role="status">With fewer than two versions, no level would have refused any.</p>
        `}
      </div>
    </${Card}>
  `;
}

/** @param {{subject: string, level: string, versions: number[]}} props */
function Preview({ subject, level, versions }) {
  const request = useRequest((signal) => refusedBy(subject, level, versions, signal), [subject, level, versions]);
  if (request.error) return html`<${Failure} error=${request.error} again=${request.reload} />`;
  if (request.data === undefined) return html`<${Loading} rows=${1} height=${24} onCancel=${request.cancel} />`;
  const { refused } = request.data;
  const of = versions.length > MOST ? `the newest ${MOST} versions` : `the ${counted(versions.length, "version")}`;
  if (refused.length === 0) {
    return html`<p class="s ok-text" role="status">✓ ${level} would have refused none of ${of}.</p>`;
  }
  return html`
    <div role="status">
      <p class="s bad-text">\\✕ ${level} would have refused ${refused.length} of ${of}:</p>
      <ul class="refused s">
        ${refused.map(({ version, backward, forward }) =>
          html`
            <li key=${version}>
              <a class="link" href=${href(path`/subjects/${subject}/compare`, {
                from: backward[0] ?? forward[0],
                to: version,
              })}>
                version ${version}</a>${": "}
              ${[
                backward.length ? `it does not read ${named(backward)}` : "",
                forward.length ? `${named(forward)} ${numbered(forward.length, "does", "do")} not read it` : "",
              ].filter(Boolean).join("; ")}
            </li>
          `
        )}
      </ul>
      <p class="xs faint">They stay registered. The level judges new versions only.</p>
    </div>
  `;
}

/** @param {number[]} versions */
function named(versions) {
  return `${numbered(versions.length, "version")} ${versions.join(", ")}`;
}
