/** The messages that a .proto text defines. */
import { tokenizeProto } from "../../../text/tokens_proto.js";

/**
 * The full names in the order of the text, including nested messages; empty if the text has no message.
 * @param {string} text
 * @returns {string[]}
 */
export function messageNames(text) {
  const { kinds, starts, ends } = tokenizeProto(text);
  const words = starts.flatMap((start, index) => kinds[index] === "comment" ? [] : [text.slice(start, ends[index])]);
  /** @type {string[]} */
  const names = [];
  /** The names of the enclosing blocks; null for blocks that are not messages. @type {(string | null)[]} */
  const around = [];
  let prefix = "";
  words.forEach((word, index) => {
    const before = words[index - 2];
    if (word === "{") {
      around.push(before === "message" ? words[index - 1] : null);
      if (around.at(-1) !== null) names.push([prefix, ...around].filter(Boolean).join("."));
    } else if (word === "}") around.pop();
    else if (word === "package" && isStatement(words, index) && around.length === 0) {
      prefix = packageAt(words, index + 1);
    }
  });
  return names;
}

/**
 * Whether a statement can begin at a word: `package` may also be a name.
 * @param {string[]} words
 * @param {number} at
 */
const isStatement = (words, at) => at === 0 || [";", "{", "}"].includes(words[at - 1]);

/**
 * @param {string[]} words
 * @param {number} from
 */
function packageAt(words, from) {
  const end = words.indexOf(";", from);
  return end < 0 ? "" : words.slice(from, end).join("");
}
