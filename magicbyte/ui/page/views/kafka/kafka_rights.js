/**
 * The rights that changes of topics and groups need. Views show a missing right before a change and after a refusal.
 */
import { may } from "../../state/signals.js";
import { Shown } from "../../parts/hostile.js";
import { html } from "../../vendor/ui.js";

/** Action -> Kafka's operation and its resource. @type {Record<string, [string, string]>} */
export const RIGHTS = {
  create: ["CREATE", "the topic or the cluster"],
  grow: ["ALTER", "the topic"],
  configure: ["ALTER_CONFIGS", "the topic"],
  describeConfigs: ["DESCRIBE_CONFIGS", "the topic"],
  delete: ["DELETE", "the topic"],
  read: ["READ", "the topic"],
  produce: ["WRITE", "the topic"],
  reset: ["READ", "the group, and on each topic"],
  describeCluster: ["DESCRIBE", "the cluster"],
};

/** The actions that change nothing. */
const READS = new Set(["read", "describeConfigs", "describeCluster"]);

/**
 * Why the user may not do an action; empty if allowed or unknown.
 * @param {string} action a key of RIGHTS
 * @param {string[] | null | undefined} operations what the user may do; null or undefined if unknown
 */
export function missingRight(action, operations) {
  const { reason } = READS.has(action) ? { reason: "" } : may(action === "produce" ? "produce" : "topics");
  if (reason) return reason;
  const [operation, on] = RIGHTS[action];
  if (!operations || operations.includes(operation)) return "";
  return `The right ${operation} on ${on.replace(/,.*| or .*/, "")} is missing.`;
}

/**
 * A refusal in the server's words, with the right that the action needs.
 * @param {{error: any, action: string}} props
 */
export const Refused = ({ error, action }) => {
  const [operation, on] = RIGHTS[action];
  return html`
    <div class="note bad" role="alert">
      <div class="what"><${Shown} text=${error.message} /></div>
      ${error.status === 403 && html`
        <p class="fix">This needs the right <b>${operation}</b> on ${on}.</p>
      `}
    </div>
  `;
};
