/** A table that scrolls sideways on a narrow screen, also by the keyboard. */
import { html } from "../vendor/ui.js";

/** @param {{label: string, children?: any}} props `label` names the region */
export const Scrolled = ({ label, children }) =>
  html`<div class="table-scroll" tabindex="0" role="region" aria-label=${`Table: ${label}`}>${children}</div>`;
