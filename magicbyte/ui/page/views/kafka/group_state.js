/** The state of a group as a badge. */
import { Badge } from "../../parts/badges.js";
import { html } from "../../vendor/ui.js";

/** @type {Record<string, "ok" | "warn" | "line">} */
const TONES = { STABLE: "ok", PREPARING_REBALANCE: "warn", COMPLETING_REBALANCE: "warn", DEAD: "warn" };

/** @param {{state: string}} props as the API has it, such as PREPARING_REBALANCE */
export const GroupState = ({ state }) =>
  html`<${Badge} tone=${TONES[state] ?? "line"}>${state.toLowerCase().replaceAll("_", " ") || "unknown"}</${Badge}>`;
