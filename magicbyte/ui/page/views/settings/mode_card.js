/** The mode, which decides whether versions may be registered and deleted. */
import { ApiError } from "../../api/client.js";
import { deleteMode, putMode } from "../../api/registry.js";
import { LevelBadge } from "../../parts/badges.js";
import { Button } from "../../parts/buttons.js";
import { Card } from "../../parts/cards.js";
import { CurlButton } from "../../parts/copying.js";
import { Select } from "../../parts/menus.js";
import { toast } from "../../parts/toasts.js";
import { forgetRefusals, may } from "../../state/signals.js";
import { html, useId, useState } from "../../vendor/ui.js";
import { sent, settingsPath } from "./send.js";
import { DisabledReason } from "./disabled_reason.js";

/** @type {Record<string, string>} */
const MEANINGS = {
  READWRITE: "Versions may be registered and deleted.",
  READONLY: "No version may be registered or deleted.",
  READONLY_OVERRIDE: "No version may be registered or deleted, whatever the modes of subjects say.",
  IMPORT:
    "Versions are registered with the ids and numbers of another registry, without checks. Only for a subject without versions.",
  FORWARD: "Requests of clients are passed on to another registry.",
};

/** The codes of errors when versions block IMPORT: live versions, or deleted versions that other schemas refer to. */
const IN_THE_WAY = new Set([42205, 42206]);

/**
 * Whether `force=true` would set a refused mode.
 * @param {string} mode
 * @param {ApiError} error
 */
const mayBeForced = (mode, { code, message }) =>
  mode === "IMPORT" && IN_THE_WAY.has(code) && !message.startsWith("Mode changes");

/** @param {{subject: string, mode: string, origin?: string, onChanged: () => void}} props */
export function ModeCard({ subject, mode, origin, onChanged }) {
  const [chosen, setChosen] = useState(mode);
  const { reason } = may("mode", subject);
  const why = useId();
  const isOwn = origin === "subject";
  const modes = Object.keys(MEANINGS).filter((name) => name === mode || (subject === "" || name !== "FORWARD"));
  const [refusal, setRefusal] = useState("");
  const choose = (/** @type {string} */ name) => {
    setChosen(name);
    setRefusal("");
  };
  const put = async (/** @type {boolean} */ force) => {
    try {
      return await putMode(subject, chosen, { force: force || undefined });
    } catch (error) {
      if (error instanceof ApiError && mayBeForced(chosen, error)) setRefusal(error.message);
      throw error;
    }
  };
  const save = (force = false) =>
    sent(() => put(force), () => {
      forgetRefusals();
      const undo = () => sent(() => isOwn || subject === "" ? putMode(subject, mode) : deleteMode(subject), onChanged);
      toast(`The mode is ${chosen}.`, { action: { label: "Undo", onClick: undo } });
      onChanged();
    });
  const inherit = () =>
    sent(() => deleteMode(subject), () => {
      forgetRefusals();
      toast("The mode is the inherited one.");
      onChanged();
    });
  return html`
    <${Card} title="Mode" aria-label="Mode" aside=${html`
      <${LevelBadge} level=${mode} origin=${origin}
        ofRegistry=${subject === ""} />
    `}>
      <div class="stack">
        <div class="row wrap">
          <${Select} label="Mode" mono value=${chosen} options=${modes} onChange=${choose} disabled=${reason !== ""}
            aria-describedby=${reason ? why : undefined} />
          <${Button} kind="primary" reason=${reason} disabled=${chosen === mode}
            onClick=${() => save()}>Set ${chosen}</${Button}>
          ${isOwn && html`<${Button} reason=${reason} onClick=${inherit}>Inherit</${Button}>`}
          <span class="grow"></span>
          <${CurlButton} kind="quiet" request=${{
            method: "PUT",
            path: "/mode" + settingsPath(subject),
            body: { mode: chosen },
          }} />
        </div>
        <${DisabledReason} id=${why} reason=${reason} />
        <p class="s dim">${MEANINGS[chosen] ?? ""}</p>
        ${refusal !== "" && html`
          <div class="stack" role="group" aria-label="With force">
            <p class="s bad-text anywhere" role="status">Not changed: ${refusal}</p>
            <p class="s">
              <b>With force=true</b> the registry sets IMPORT and keeps the versions. An import may then put other
              schemas beside them, without checks.
            </p>
            <div class="row wrap">
              <${Button} kind="danger" reason=${reason} onClick=${() => save(true)}>Set IMPORT with force</${Button}>
              <${CurlButton} kind="quiet" label="Copy as curl with force" request=${{
                method: "PUT",
                path: "/mode" + settingsPath(subject),
                query: { force: true },
                body: { mode: chosen },
              }} />
            </div>
          </div>
        `}
      </div>
    </${Card}>
  `;
}
