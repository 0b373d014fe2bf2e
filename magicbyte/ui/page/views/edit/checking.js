/** The live check: after each pause, one request checks the text against every version in both directions. */
import { ApiError } from "../../api/client.js";
import { gapOf } from "../../api/fact.js";
import { isMissingRoute } from "../../api/transport.js";
import { check, outlineOf } from "../../api/registry.js";
import { comebacks } from "../../state/signals.js";
import { useEffect, useRef, useState } from "../../vendor/ui.js";
import { bodyOf } from "./draft/drafts.js";
import { allowed, rowsOf } from "./places/matrix.js";

/**
 * @import { Explanation } from "./places/findings.js"
 * @import { Check, Checked, Invalid, Plain, Verdict } from "./places/check.d.ts"
 * @import { Draft } from "./draft/drafts.js"
 */

/** A check starts after this pause between keys, in ms. */
const PAUSE = 250;
const INVALID = 42201;

/**
 * Checks a draft: after each change of the draft or the subject, and when the registry is back.
 * @param {string} subject  empty for a subject that has no name yet
 * @param {Draft} draft
 * @param {number} news  the number of changes of the subject so far
 * @returns {Check}
 */
export function useCheck(subject, draft, news) {
  const { text, type, references, metadata, ruleSet } = draft;
  const parts = [subject, text, type, references, metadata, ruleSet];
  const [{ of, ...state }, setState] = useState(
    /** @type {Omit<Check, "again"> & {of: unknown[]}} */ ({
      of: parts,
      checking: true,
      checked: null,
      invalid: null,
      failure: null,
    }),
  );
  const [round, setRound] = useState(0);
  const first = useRef(true);
  useEffect(() => {
    const abort = new AbortController();
    const patch = (/** @type {Partial<Check>} */ part) => {
      if (!abort.signal.aborted) setState((state) => ({ ...state, checking: false, failure: null, ...part }));
    };
    setState((state) => ({ ...state, of: parts, checking: true }));
    const timer = setTimeout(() => {
      first.current = false;
      ask(subject, draft, abort.signal).then(
        (checked) => patch({ checked, invalid: null }),
        (error) => patch(notChecked(text, error)),
      );
    }, first.current ? 0 : PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [...parts, round, news, comebacks.value]);
  // The effect runs after the paint: until then the state is that of the draft before.
  const checking = state.checking || parts.some((part, index) => part !== of[index]);
  return { ...state, checking, again: () => setRound((number) => number + 1) };
}

/**
 * @param {string} subject
 * @param {Draft} draft
 * @param {AbortSignal} signal
 * @returns {Promise<Checked>}
 */
async function ask(subject, draft, signal) {
  const body = bodyOf(draft);
  const sent = draft.text;
  if (subject === "") {
    await outlineOf(body, { signal }).catch((error) => {
      if (!isMissingRoute(error)) throw error;
    });
    return { sent, explanations: [], versions: [], cut: false, at: Date.now(), plain: null };
  }
  const answer = await check({ subject, ...body }, { level: "FULL_TRANSITIVE", every: true, signal });
  const { explanations = [], versions = versionsOf(explanations), cut = false } = answer;
  const plain = "explanations" in answer ? null : await plainOf(subject, body, answer.is_compatible, signal);
  return { sent, explanations, versions, cut, at: Date.now(), plain };
}

/**
 * The result of a registry that returns no explanations, with its messages.
 * @param {string} subject
 * @param {ReturnType<typeof bodyOf>} body
 * @param {boolean} compatible
 * @param {AbortSignal} signal
 * @returns {Promise<Plain>}
 */
async function plainOf(subject, body, compatible, signal) {
  if (compatible) return { compatible, messages: [] };
  const { messages = [] } = await check({ subject, ...body }, { explain: false, verbose: true, signal });
  return { compatible, messages };
}

/**
 * Whether a level allows the checked text.
 * @param {Checked} checked
 * @param {number[]} versions
 * @param {string} level
 */
export const allows = ({ explanations, plain }, versions, level) =>
  plain ? plain.compatible : allowed(rowsOf(explanations, versions, level));

/**
 * Derives the verdict of each version, for a registry that does not return them.
 * @param {Explanation[]} explanations
 * @returns {Verdict[]}
 */
function versionsOf(explanations) {
  const broken = explanations.filter(({ severity }) => severity === "error");
  const numbers = [...new Set(explanations.map(({ version }) => version ?? 0))];
  return numbers.map((version) => ({
    version,
    backward: !broken.some((finding) => finding.version === version && finding.direction === "BACKWARD"),
    forward: !broken.some((finding) => finding.version === version && finding.direction === "FORWARD"),
  }));
}

/**
 * Interprets an error of a check: the text is not a schema, or the registry returned no verdict.
 * @param {string} sent
 * @param {any} error
 * @returns {Partial<Check>}
 */
export function notChecked(sent, error) {
  if (gapOf(error) === null && isInvalid(error)) return { invalid: invalidOf(sent, error) };
  // Drop the verdict on an earlier text: it does not apply to the current text.
  return { failure: error, checked: null, invalid: null };
}

/** @param {unknown} error */
function isInvalid(error) {
  return error instanceof SyntaxError ||
    (error instanceof ApiError && (error.code === INVALID || error.status === 422));
}

/**
 * The error in a text, with its position.
 * @param {string} sent
 * @param {Error & {data?: any}} error
 * @returns {Invalid}
 */
function invalidOf(sent, error) {
  const message = error.message.replace(/^Invalid schema of type \w+, details: /, "");
  const place = /\(?\bline (\d+), column (\d+)\)?/.exec(message);
  const position = error.data?.position ?? (place ? { line: Number(place[1]), column: Number(place[2]) } : null);
  return { sent, message, position };
}
