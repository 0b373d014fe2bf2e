/** Offers `force=true` after the registry has suggested it: its meaning and the right that it needs. */
import { Button } from "../../parts/buttons.js";
import { CurlButton } from "../../parts/copying.js";
import { may } from "../../state/signals.js";
import { html } from "../../vendor/ui.js";

const TOO_COSTLY = 42209;

/** Whether the registry suggests `force=true`. @param {import("../../api/client.js").ApiError} error */
export const suggestsForce = ({ code, message }) => code === TOO_COSTLY && message.includes("force=true");

/**
 * @param {{subject: string, request: import("../../api/types.d.ts").Request, busy: boolean, onForce: () => void}} props
 *   `request`: the registration without force
 */
export function ForceOffer({ subject, request, busy, onForce }) {
  const { reason } = may("force", subject);
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
