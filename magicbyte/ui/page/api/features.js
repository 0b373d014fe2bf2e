/** Features that the registry lacks: other registries have no listing, outline or compare. */
import { signal } from "../vendor/ui.js";

/** @type {import("../vendor/ui.js").Signal<string[]>} */
export const lacking = signal([]);

/** Remembers that the registry lacks the route of a feature. @param {string} feature */
export function lacks(feature) {
  if (!lacking.peek().includes(feature)) lacking.value = [...lacking.peek(), feature];
}

/** Whether the registry lists subjects with their facts in one answer. */
export const hasOverview = () => !lacking.value.includes("overview");
