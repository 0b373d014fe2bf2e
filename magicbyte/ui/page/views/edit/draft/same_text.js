/**
 * Whether a text equals a version: same tokens, with any space between them.
 *
 * @import { Draft } from "./drafts.js"
 */
import { version as readVersion } from "../../../api/registry.js";
import { asStored } from "../../../text/pretty.js";
import { draftOf } from "./drafts.js";
import { useEffect, useRef, useState } from "../../../vendor/ui.js";

/** The number of newest versions that a text is compared with. */
const MOST = 20;

/**
 * Returns true if both texts have the same tokens; ignores comments.
 * @param {string} one
 * @param {string} other
 * @param {import("../code/open_editor.js").SchemaType} type
 */
export function sameTokens(one, other, type) {
  return one === other || tokensOf(one, type) === tokensOf(other, type);
}

/**
 * @param {string} text
 * @param {import("../code/open_editor.js").SchemaType} type
 */
function tokensOf(text, type) {
  const { tokens } = asStored(text, type);
  const words = [];
  for (let index = 0; index < tokens.starts.length; index++) {
    if (tokens.kinds[index] !== "comment") words.push(text.slice(tokens.starts[index], tokens.ends[index]));
  }
  return words.join("\n");
}

/**
 * Finds the version that equals a draft; null if there is none.
 * @param {string} subject
 * @param {Draft} draft
 * @param {import("../places/check.d.ts").Checked | null} checked
 * @returns {number | null}
 */
export function useEqualVersion(subject, draft, checked) {
  const [equal, setEqual] = useState(/** @type {{sent: string, version: number} | null} */ (null));
  const texts = useRef(/** @type {Map<number, any>} */ (new Map()));
  const compatible = (checked?.versions ?? []).filter(({ backward, forward }) => backward && forward);
  const candidates = compatible.map(({ version }) => version).sort((one, other) => other - one).slice(0, MOST);
  useEffect(() => {
    const abort = new AbortController();
    find().catch(() => {});
    return () => abort.abort();

    async function find() {
      for (const number of candidates) {
        const stored = texts.current.get(number) ?? await readVersion(subject, number, { signal: abort.signal });
        texts.current.set(number, stored);
        if (abort.signal.aborted) return;
        if (isSame(stored, draft)) return setEqual({ sent: draft.text, version: number });
      }
      setEqual(null);
    }
  }, [subject, checked, draft.references, draft.metadata, draft.ruleSet]);
  return equal !== null && equal.sent === draft.text ? equal.version : null;
}

/**
 * @param {any} stored  a version as the API returns it
 * @param {Draft} draft
 */
function isSame(stored, draft) {
  const began = draftOf(stored, draft.base, stored.schema);
  return began.type === draft.type && sameTokens(began.text, draft.text, draft.type) &&
    JSON.stringify(began.references) === JSON.stringify(draft.references) &&
    began.metadata.trim() === draft.metadata.trim() && began.ruleSet.trim() === draft.ruleSet.trim();
}
