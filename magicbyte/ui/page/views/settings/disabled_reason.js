/** Why the controls of a card may not be used, in sight: those that are disabled are described by it. */
import { html } from "../../vendor/ui.js";

/** @param {{id: string, reason: string}} props */
export const DisabledReason = ({ id, reason }) => reason !== "" && html`<p class="s warn-text" id=${id}>${reason}</p>`;
