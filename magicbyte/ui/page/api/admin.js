/**
 * Topics, groups and brokers by version 3 of the REST proxy: figures, rights, and requests that change something.
 *
 * Magicbyte's proxy returns in one answer what other proxies return in several. With another proxy, the members of the
 * missing parts are null or absent.
 */
import { path } from "./encode_url.js";
import { call } from "./client.js";
import { boundsIn, clusterId, get } from "./rest.js";
import { isMissingRoute } from "./transport.js";

/** @typedef {import("./rest.js").Options} Options */
/** @typedef {import("./types.d.ts").Request} Request */
/**
 * @typedef {{name: string, partitions: number, replicas: number, internal: boolean, operations: string[] | null,
 *   bounds: import("./rest.js").Partition[] | null}} Topic
 *   `operations`: what the user may do; null if unknown. `bounds`: null if not requested or not returned
 * @typedef {{name: string, value: string | null, isReadOnly: boolean, isSensitive: boolean, source: string,
 *   synonyms: {name: string, value: string | null, source: string}[]}} Config
 * @typedef {{topic: string, partitions: number, unknown: number, total: number, max: number}} TopicLag
 * @typedef {{id: string, instance: string, client: string, host: string,
 *   places: {topic: string, partition: number}[]}} Member
 * @typedef {{id: string, state: string, type: string, assignor: string, coordinator: number | null,
 *   memberCount: number | null, lags: TopicLag[] | null | undefined, members: Member[] | null,
 *   operations: string[] | null}} Group
 *   `lags`: undefined if the proxy does not return them, null if the broker does not
 * @typedef {{topic: string, partition: number, from: number | null, to: number, wanted: number, end: number | null,
 *   skipped: number | null, repeated: number | null}} Reset
 */

/** The cluster's id; fails if version 3 is not served. */
async function cluster() {
  const id = await clusterId();
  if (id === null) throw new Error("This REST proxy has no version 3.");
  return id;
}

/** @param {unknown} listed an empty list means that the page did not ask, or that the proxy does not know */
const operationsIn = (listed) => Array.isArray(listed) && listed.length > 0 ? listed : null;

/**
 * A topic with the user's operations on it; null if version 3 is not served.
 * @param {string} topic
 * @param {Options & {offsets?: boolean}} [options] `offsets`: also request the offsets of the topic's partitions
 * @returns {Promise<Topic | null>}
 */
export async function topicFacts(topic, { signal, offsets = false } = {}) {
  const id = await clusterId();
  if (id === null) return null;
  const query = { include_authorized_operations: true, ...(offsets ? { include_offsets: true } : {}) };
  const { data } = await call("GET", path`/v3/clusters/${id}/topics/${topic}`, {
    base: "rest",
    exact: false,
    query,
    signal,
  });
  return {
    name: data.topic_name,
    partitions: data.partitions_count,
    replicas: data.replication_factor,
    internal: data.is_internal,
    operations: operationsIn(data.authorized_operations),
    bounds: data.offsets ? boundsIn(data.offsets) : null,
  };
}

/**
 * @param {string} topic
 * @param {Options} [options]
 * @returns {Promise<Config[]>}
 */
export async function topicConfigs(topic, { signal } = {}) {
  const { data } = await get(path`/v3/clusters/${await cluster()}/topics/${topic}/configs`, { signal });
  return data.map((/** @type {any} */ row) => ({
    name: row.name,
    value: row.value,
    isReadOnly: row.is_read_only,
    isSensitive: row.is_sensitive,
    source: row.source,
    synonyms: row.synonyms ?? [],
  }));
}

/**
 * The groups with their lags by topic, in one request; null if version 3 is not served.
 * @param {Options} [options]
 * @returns {Promise<Group[] | null>}
 */
export async function groups({ signal } = {}) {
  const id = await clusterId();
  if (id === null) return null;
  const { data } = await get(path`/v3/clusters/${id}/consumer-groups`, { signal, query: { include_lags: true } });
  return data.map(groupOf);
}

/**
 * A group with its members.
 * @param {string} name
 * @param {Options} [options]
 * @returns {Promise<Group>}
 */
export async function group(name, { signal } = {}) {
  const at = path`/v3/clusters/${await cluster()}/consumer-groups/${name}`;
  const query = { include_lags: true, include_members: true, include_authorized_operations: true };
  const found = groupOf(await get(at, { signal, query }));
  if (found.members) return found;
  const { data } = await get(`${at}/consumers`, { signal });
  const members = data.map((/** @type {any} */ row) => memberOf(row));
  return { ...found, members, memberCount: members.length };
}

/** Returns the broker id at the end of a link. @param {string | undefined} link */
function idAt(link) {
  const number = link?.match(/\/(\d+)$/)?.[1];
  return number === undefined ? null : Number(number);
}

/** @param {any} row @returns {Group} */
const groupOf = (row) => ({
  id: row.consumer_group_id,
  state: row.state ?? "",
  type: row.type ?? "",
  assignor: row.partition_assignor ?? "",
  coordinator: idAt(row.coordinator?.related),
  memberCount: row.members_count ?? null,
  lags: row.lags?.map((/** @type {any} */ lag) => ({
    topic: lag.topic_name,
    partitions: lag.partitions_count,
    unknown: lag.unknown_count,
    total: lag.total_lag,
    max: lag.max_lag,
  })) ?? row.lags,
  members: row.members?.map(memberOf) ?? null,
  operations: operationsIn(row.authorized_operations),
});

/** @param {any} row @returns {Member} */
const memberOf = (row) => ({
  id: row.consumer_id,
  instance: row.instance_id ?? "",
  client: row.client_id ?? "",
  host: row.host ?? "",
  places: (row.assignments?.map ? row.assignments : []).map((/** @type {any} */ place) => ({
    topic: place.topic_name,
    partition: place.partition_id,
  })),
});

/**
 * The health of the cluster. Other proxies return only the brokers.
 * @param {Options} [options]
 * @returns {Promise<any>} the API's members; without `partitions_count` if the proxy does not return partitions; null
 *   if version 3 is not served
 */
export async function health({ signal } = {}) {
  const id = await clusterId();
  if (id === null) return null;
  try {
    return await get(path`/v3/clusters/${id}/health`, { signal });
  } catch (error) {
    if (!isMissingRoute(error)) throw error;
    const { data } = await get(path`/v3/clusters/${id}/brokers`, { signal });
    return { brokers: data.map((/** @type {any} */ row) => ({ ...row, is_online: true })) };
  }
}

/** @param {string} method @param {string} at @param {any} [body] @returns {Request} */
const request = (method, at, body) => ({ method, path: at, base: "rest", ...(body === undefined ? {} : { body }) });

/**
 * @param {string} id the cluster's
 * @param {{name: string, partitions: number | null, replicas: number | null, configs: {name: string, value: string}[]}} topic
 *   null for the broker's default
 */
export function createRequest(id, { name, partitions, replicas, configs }) {
  return request("POST", path`/v3/clusters/${id}/topics`, {
    topic_name: name,
    ...(partitions === null ? {} : { partitions_count: partitions }),
    ...(replicas === null ? {} : { replication_factor: replicas }),
    ...(configs.length > 0 ? { configs } : {}),
  });
}

/** @typedef {{name: string, value?: string, operation?: "DELETE"}} Change */

/** @param {string} id @param {string} topic @param {Change[]} changes */
export const configsRequest = (id, topic, changes) =>
  request("POST", path`/v3/clusters/${id}/topics/${topic}` + "/configs:alter", { data: changes });

/** @param {string} id @param {string} topic @param {number} partitions */
export const growRequest = (id, topic, partitions) =>
  request("PATCH", path`/v3/clusters/${id}/topics/${topic}`, { partitions_count: partitions });

/** @param {string} id @param {string} topic */
export const deleteRequest = (id, topic) => request("DELETE", path`/v3/clusters/${id}/topics/${topic}`);

/** @param {string} id @param {string} group @param {object[]} targets */
export const resetRequest = (id, group, targets) =>
  request("POST", path`/v3/clusters/${id}/consumer-groups/${group}` + "/offsets:alter", { data: targets });

/** The request as a dry run: the broker only validates it. @param {Request} asked @returns {Request} */
export const dry = (asked) => ({ ...asked, body: { .../** @type {object} */ (asked.body), validate_only: true } });

/**
 * Sends a request.
 * @param {Request} asked
 * @param {Options} [options]
 * @returns {Promise<any>} the answer's JSON
 */
export const send = async (asked, { signal } = {}) =>
  (await call(asked.method, asked.path, { ...asked, exact: false, signal })).data;

/**
 * The effects of a reset or of its dry run, by topic and partition.
 * @param {any} answer
 * @returns {Reset[]}
 */
export const resetsIn = (answer) =>
  answer.data.map((/** @type {any} */ row) => ({
    topic: row.topic_name,
    partition: row.partition_id,
    from: row.previous_offset ?? null,
    to: row.current_offset,
    wanted: row.requested_offset ?? row.current_offset,
    end: row.log_end_offset,
    skipped: row.skipped ?? null,
    repeated: row.repeated ?? null,
  })).sort((/** @type {Reset} */ a, /** @type {Reset} */ b) =>
    a.topic < b.topic ? -1 : a.topic > b.topic ? 1 : a.partition - b.partition
  );
