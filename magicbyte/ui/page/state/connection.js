/** Tracks from the transport's events whether the registry is reachable and which actions it refused. */
import { actionOf } from "../api/actions.js";
import { address, connect } from "../api/client.js";
import { GONE } from "../api/transport.js";
import { askRightsAgain, forgetRights } from "./rights.js";
import { ROOT } from "./routes.js";
import { comebacks, config, context, forgetRefusals, me, online, refuse } from "./signals.js";

/** @typedef {import("../api/types.d.ts").TransportEvent} TransportEvent */

const LONGEST_WAIT = 30;
let timer = 0;
let wait = 0;

/** Connects the transport to the page's state; called once by app.js, before the first request. */
export function connectTransport() {
  const { registryBase, features } = config.peek();
  connect({
    root: ROOT,
    registryBase,
    joinsRequests: features.includes("together"),
    context: () => context.peek(),
    onEvent: onTransport,
  });
}

/** Handles an event of the transport. @param {TransportEvent} event */
function onTransport(event) {
  if (event.kind === "signed-in") {
    forgetRefusals();
    return forgetRights();
  }
  if (event.kind === "lost") return lost(event);
  if (event.kind === "refused") return remember(event);
  // A successful read does not prove that the leader is back: each node answers reads itself.
  if (!online.peek().up && !online.peek().leaderless) back();
}

/** @param {{method: string, path: string, query?: import("../api/types.d.ts").Query, message: string}} refusal */
function remember({ method, path, query, message }) {
  const { action, subject } = actionOf(method, path, query);
  if (!action) return;
  refuse(action, subject, message);
  askRightsAgain();
}

/**
 * Shows the strip, and retries after 1, 2, 4 .. 30 s.
 * @param {{message: string, requestId?: string, leaderless?: boolean}} failure
 */
function lost({ message, requestId = "", leaderless = false }) {
  if (timer) return;
  wait = Math.min(LONGEST_WAIT, wait ? wait * 2 : 1);
  const since = online.peek().since ?? Date.now();
  online.value = { up: false, leaderless, message, requestId, since, retryAt: Date.now() + wait * 1000 };
  timer = setTimeout(askAgain, wait * 1000);
}

/** Checks now whether the registry is back. */
export async function askAgain() {
  clearTimeout(timer);
  timer = 0;
  const { leaderless, message = "The registry cannot be reached." } = online.peek();
  const path = leaderless ? "/health/ready" : "/";
  try {
    const response = await fetch(address(path, { context: false }), { headers: { Accept: "application/json" } });
    if (!GONE.has(response.status) && !(leaderless && await namesOldLeader(response))) return back();
    lost({ message, leaderless });
  } catch {
    lost({ message: "The registry cannot be reached." });
  }
}

/** How long the other nodes may still consider a dead leader the leader, in ms. */
const OLD_LEADER_MS = 30_000;

/**
 * Whether a node still names the leader that a write did not reach. The other nodes learn late that a leader died.
 * @param {Response} response of `/health/ready`
 */
async function namesOldLeader(response) {
  const { leader, leaderUrl } = await response.json();
  const late = Date.now() - (online.peek().since ?? 0) > OLD_LEADER_MS;
  return !late && !leader && leaderUrl !== undefined && leaderUrl === me.peek()?.leaderUrl;
}

function back() {
  clearTimeout(timer);
  timer = 0;
  wait = 0;
  if (online.peek().up) return;
  online.value = { up: true };
  comebacks.value++;
}
