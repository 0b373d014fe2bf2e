/** Reads where a schema is used, by its id in the current context or by its guid in all contexts. */

import { ApiError } from "../../api/client.js";
import * as registry from "../../api/registry.js";
import { splitSubject } from "../../state/listing_columns.js";
import { context } from "../../state/signals.js";

/** @import { SchemaType } from "../../text/pretty.js" */
/** @typedef {{subject: string, version: number, deleted: boolean}} Use */
/**
 * @typedef {{schema: string, type: SchemaType, guid: string,
 *   contexts: {name: string, id: number, uses: Use[] | null}[]}} Found `uses` is null in other contexts: they are a link
 */

/**
 * @param {{id?: string, guid?: string}} asked
 * @param {AbortSignal} signal
 * @returns {Promise<Found>}
 */
export async function usesOf({ id, guid }, signal) {
  const schema = id === undefined ? await registry.byGuid(guid ?? "", { signal }) : await registry.byId(id, { signal });
  const here = context.peek();
  /** @type {{context: string, id: number}[]} */
  const ids = schema.guid ?? guid ? await orNothing(registry.guidIds(schema.guid ?? guid, { signal })) : [];
  const contexts = ids.map((entry) => ({ name: entry.context === "." ? "" : entry.context, id: entry.id }));
  if (id !== undefined && !contexts.some((entry) => entry.name === here)) {
    contexts.unshift({ name: here, id: Number(id) });
  }
  contexts.sort((left, right) => Number(right.name === here) - Number(left.name === here));
  return {
    schema: schema.schema,
    type: schema.schemaType ?? "AVRO",
    guid: schema.guid ?? guid ?? "",
    contexts: await Promise.all(contexts.map(async (entry) => ({
      ...entry,
      uses: entry.name === here ? await usesHere(entry.id, signal) : null,
    }))),
  };
}

/** @param {number} id @param {AbortSignal} signal @returns {Promise<Use[]>} */
async function usesHere(id, signal) {
  /** @type {{subject: string, version: number}[]} */
  const all = await orNothing(registry.idVersions(id, { signal, deleted: true }));
  const live = new Set((await orNothing(registry.idVersions(id, { signal }))).map(keyOf));
  return all.map((use) => ({
    subject: splitSubject(use.subject).name,
    version: use.version,
    deleted: !live.has(keyOf(use)),
  }));
}

/** @param {{subject: string, version: number}} use */
function keyOf(use) {
  return `${use.version} ${use.subject}`;
}

/** The list, empty if the registry does not have what was asked for. @param {Promise<any[]>} asked */
async function orNothing(asked) {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
}
