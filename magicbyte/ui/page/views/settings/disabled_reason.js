/** Shows why a card's controls are disabled. The disabled controls refer to it by aria-describedby. */
import { html } from "../../vendor/ui.js";

/** @param {{id: string, reason: string}} props */
export const DisabledReason = ({ id, reason }) => reason !== "" && html`<p class="s warn-text" id=${id}>${reason}</p>`;
