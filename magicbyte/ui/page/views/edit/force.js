/** The way to register with `force=true` after the registry has suggested it: what it means, and who may. */
import { register, version as readVersion } from "../../api/registry.js";
import { Button } from "../../parts/buttons.js";
import { CurlButton } from "../../parts/copying.js";
import { config, may } from "../../state/signals.js";
import { html, useEffect, useState } from "../../vendor/ui.js";

const TOO_COSTLY = 42209;

/** Whether the registry suggests `force=true`. @param {import("../../api/client.js").ApiError} error */
export const suggestsForce = ({ code, message }) => code === TOO_COSTLY && message.includes("force=true");

/**
 * @param {{subject: string, request: import("../../state/types.d.ts").Request, busy: boolean, onForce: () => void}} props
 *   `request`: the registration without force
 */
export function ForceOffer({ subject, request, busy, onForce }) {
  const isAsked = useRight(subject);
  const reason = may("force", subject).reason || (isAsked ? "" : "The registry is asked whether you may.");
  const forced = { ...request, query: { ...request.query, force: true } };
  return html`
    <div class="edit-force row wrap" role="group" aria-label="Register with force">
      <p class="s grow">
        <b>With force=true</b> the registry compares the text with no version. Readers and data of other versions may
        break, and nothing has told whether they do.
      </p>
      <${CurlButton} kind="quiet" request=${forced} label="Copy as curl with force" />
      <${Button} kind="danger" disabled=${busy} reason=${reason}
        onClick=${onForce}>Register with force</${Button}>
    </div>
  `;
}

/**
 * Registers the latest version once more, with force: that writes nothing, and needs the right.
 * @param {string} subject
 */
async function registerAgain(subject) {
  const { version, schema, schemaType, references, metadata, ruleSet } = await readVersion(subject, "latest");
  return await register(subject, { schema, schemaType, references, metadata, ruleSet }, {
    ifMatch: version,
    force: true,
  });
}

/**
 * Asks whether one may use force; `may` tells a refusal.
 * @param {string} subject
 * @returns {boolean}  whether the answer is there
 */
function useRight(subject) {
  const [isAsked, setAsked] = useState(!config.value.accessRules);
  useEffect(() => {
    if (isAsked) return;
    // Without an answer one tries, and the registry decides.
    registerAgain(subject).catch(() => {}).then(() => setAsked(true));
  }, [subject]);
  return isAsked;
}
