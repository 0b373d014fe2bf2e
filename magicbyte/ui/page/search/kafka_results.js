/** Topics and consumer groups whose names match the palette's search. */
import * as rest from "../api/rest.js";
import { useRequest } from "../parts/use_request.js";
import { path } from "../api/encode_url.js";
import { href } from "../state/routes.js";
import { config } from "../state/signals.js";
import { marked } from "./query.js";

const MOST = 5;

/**
 * Reads the names once, at the first typed letter. If the proxy refuses or fails, there are no results.
 * @param {string} typed
 * @returns {import("./results.js").Group[]}
 */
export function useKafkaResults(typed) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const worth = config.value.restAvailable && words.length > 0 && !typed.includes(":") && !/^\d+$/.test(typed.trim());
  const { data } = useRequest(worth ? namesOf : null, [worth]);
  if (!worth || !data) return [];
  return [
    groupOf("Topics", data.topics, words, (name) => href(path`/topics/${name}`)),
    groupOf("Consumer groups", data.groups, words, (name) => href(path`/groups/${name}`)),
  ];
}

/** @param {AbortSignal} signal */
async function namesOf(signal) {
  const [topics, groups] = await Promise.all([
    rest.topics({ signal }).catch(() => []),
    rest.groups({ signal }).catch(() => null),
  ]);
  return { topics: topics.map(({ name }) => name), groups: (groups ?? []).map(({ id }) => id) };
}

/**
 * @param {string} title
 * @param {string[]} names
 * @param {string[]} words
 * @param {(name: string) => string} addressOf
 * @returns {import("./results.js").Group}
 */
function groupOf(title, names, words, addressOf) {
  const found = names.filter((name) => words.every((word) => name.toLowerCase().includes(word)));
  return {
    title,
    count: found.length,
    items: found.sort((a, b) => a.length - b.length).slice(0, MOST).map((name) => ({
      key: `${title} ${name}`,
      address: addressOf(name),
      parts: marked(name, words),
    })),
  };
}
