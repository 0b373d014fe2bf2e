/** The mode: whether versions may be registered and deleted. */
import { deleteMode, putMode } from "../../api/registry.js";
import { Badge } from "../../parts/badges.js";
import { Button } from "../../parts/buttons.js";
import { Card } from "../../parts/cards.js";
import { CurlButton } from "../../parts/copying.js";
import { Select } from "../../parts/menus.js";
import { toast } from "../../parts/toasts.js";
import { forgetRefusals, may } from "../../state/signals.js";
import { html, useState } from "../../vendor/ui.js";
import { originWords } from "./origins.js";
import { sent, settingsPath } from "./send.js";

/** @type {Record<string, string>} */
const MEANINGS = {
  READWRITE: "Versions may be registered and deleted.",
  READONLY: "No version may be registered or deleted.",
  READONLY_OVERRIDE: "No version may be registered or deleted, whatever the modes of subjects say.",
  IMPORT:
    "Versions are registered with the ids and numbers of another registry, without checks. Only for a subject without versions.",
  FORWARD: "Requests of clients are passed on to another registry.",
};

/** @param {{subject: string, mode: string, origin?: string, onChanged: () => void}} props */
export function ModeCard({ subject, mode, origin, onChanged }) {
  const [chosen, setChosen] = useState(mode);
  const { reason } = may("mode", subject);
  const isOwn = origin === "subject";
  const modes = Object.keys(MEANINGS).filter((name) => name === mode || (subject === "" || name !== "FORWARD"));
  const save = () =>
    sent(() => putMode(subject, chosen), () => {
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
    <${Card} title="Mode" aria-label="Mode" aside=${html`<${Badge} tone="line">${mode} <span class="faint">${
      originWords(origin, subject)
    }</span></${Badge}>`}>
      <div class="stack">
        <div class="row wrap">
          <${Select} label="Mode" mono value=${chosen} options=${modes} onChange=${setChosen} disabled=${reason !==
            ""} />
          <${Button} kind="primary" reason=${reason} disabled=${chosen === mode}
            onClick=${save}>Set ${chosen}</${Button}>
          ${isOwn && html`<${Button} reason=${reason} onClick=${inherit}>Inherit</${Button}>`}
          <span class="grow"></span>
          <${CurlButton} kind="quiet" request=${{
            method: "PUT",
            path: "/mode" + settingsPath(subject),
            body: { mode: chosen },
          }} />
        </div>
        <p class="s dim">${MEANINGS[chosen] ?? ""}</p>
      </div>
    </${Card}>
  `;
}
