/** Requests the user's rights for the controls of a view. */
import { lacking, lacks } from "../api/features.js";
import { rightsOn } from "../api/rights.js";
import { isMissingRoute } from "../api/transport.js";
import { learn, rightsRound, stale } from "../state/rights.js";
import { config, context, qualified } from "../state/signals.js";
import { useEffect } from "../vendor/ui.js";

/** The most subjects that the registry accepts in one request. */
const MOST = 100;

/**
 * Requests the user's rights on some subjects, the settings and the registry. Until the answer arrives, or if the
 * registry lacks this route, all controls are enabled; the registry then refuses what the user may not do.
 * @param {string[]} [subjects]
 * @param {{pause?: number}} [options] `pause`: ms to wait while the user types a name
 */
export function useRights(subjects = [], { pause = 0 } = {}) {
  const names = subjects.filter(Boolean).map(qualified);
  const key = JSON.stringify([context.value, names]);
  const round = rightsRound.value;
  useEffect(() => {
    if (!config.peek().accessRules || lacking.peek().includes("rights")) return;
    const timer = setTimeout(() => ask(context.peek(), names), pause);
    return () => clearTimeout(timer);
  }, [key, round]);
}

/** @param {string} of the context @param {string[]} names with contexts */
async function ask(of, names) {
  const round = rightsRound.peek();
  const old = stale([`context ${of}`, ...names]);
  const subjects = names.filter((name) => old.includes(name));
  if (old.length === 0) return;
  try {
    for (let at = 0; at === 0 || at < subjects.length; at += MOST) {
      const { subjects: told, ...ofContext } = await rightsOn(subjects.slice(at, at + MOST));
      // Another user may have signed in since the request.
      if (rightsRound.peek() !== round) return;
      learn(of, told, ofContext);
    }
  } catch (error) {
    // Controls stay as they are; the registry decides.
    if (isMissingRoute(error)) lacks("rights");
  }
}
