/** Results of the registry's search in fields and texts, which arrive after the names. */
import { hasOverview } from "../api/features.js";
import { splitSubject } from "../text/split_subject.js";
import { useRequest } from "../parts/use_request.js";
import { path } from "../api/encode_url.js";
import { href } from "../state/routes.js";
import { asksRegistry, readQuery } from "./query.js";
import { fragmentOf, searchRegistry } from "./registry_search.js";
import { pause } from "./use_found.js";

const MOST = 5;

/** @type {[string, string][]} */
const PLACES = [["fields", "In fields"], ["texts", "In texts"]];

/**
 * @param {string} typed
 * @returns {{groups: import("./results.js").Group[], loading: boolean, error: any}} `error`: why the registry's search
 *   failed
 */
export function useRegistryResults(typed) {
  const read = readQuery(typed);
  const asks = asksRegistry(read);
  const words = read.words.join(" ");
  const worth = hasOverview() && (asks || (words.length > 1 && !/^\d+$/.test(words)));
  const { data, loading, error } = useRequest(
    worth
      ? async (signal) => {
        await pause(signal);
        const places = asks ? [["names", "By the registry"]] : PLACES;
        const answers = await Promise.all(places.map(([place]) => searchRegistry(read, place, { signal, limit: 20 })));
        return places.map(([place, title], i) => groupOf(answers[i], place, title));
      }
      : null,
    [worth, asks, JSON.stringify(read)],
  );
  return { groups: worth ? data ?? [] : [], loading: worth && loading, error: worth && !data ? error : null };
}

/**
 * @param {import("./registry_search.js").Hits} hits
 * @param {string} place
 * @param {string} title
 * @returns {import("./results.js").Group}
 */
const groupOf = (hits, place, title) => ({
  title,
  count: hits.total,
  items: hits.hits.slice(0, MOST).map((hit) => {
    const { context, name } = splitSubject(hit.subject);
    const at = path`/subjects/${name}/versions/${hit.version}`;
    return {
      key: `${place} ${hit.subject}`,
      address: place === "fields"
        ? href(at, { view: "fields" }, { context })
        : href(at, {}, { context, hash: fragmentOf(hit) }),
      parts: [{ text: name, hit: false }],
      note: hit.excerpt ?? hit.fields?.join(", ") ?? "",
    };
  }),
});
