/** Reads where a schema is used, by its id in the current context or by its guid in all contexts. */

import { factOf, known, mapped, valueOr } from "./fact.js";
import * as registry from "./registry.js";
import { splitSubject } from "../text/split_subject.js";
import { currentContext } from "./client.js";

/** @import { Fact } from "./fact.js" */
/** @import { SchemaType } from "../text/pretty.js" */
/** @typedef {{subject: string, version: number, deleted: boolean}} Use */
/**
 * @typedef {{schema: string, type: SchemaType, guid: string,
 *   contexts: {name: string, id: number, uses: Fact<Use[]> | null}[]}} SchemaUses `uses` is null in other contexts; the
 *   view links to those contexts
 */

/**
 * @param {{id?: string, guid?: string}} asked
 * @param {AbortSignal} signal
 * @returns {Promise<SchemaUses>}
 */
export async function usesOf({ id, guid }, signal) {
  const schema = id === undefined ? await registry.byGuid(guid ?? "", { signal }) : await registry.byId(id, { signal });
  const here = currentContext();
  /** @type {{context: string, id: number}[]} */
  const ids = schema.guid ?? guid ? valueOr(await factOf(registry.guidIds(schema.guid ?? guid, { signal })), []) : [];
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

/** @param {number} id @param {AbortSignal} signal @returns {Promise<Fact<Use[]>>} */
async function usesHere(id, signal) {
  const all = await versionsOf(registry.idVersions(id, { signal, deleted: true }));
  const live = await versionsOf(registry.idVersions(id, { signal }));
  if (live.gap !== null) return live;
  const keys = new Set(live.value.map(keyOf));
  return mapped(all, (uses) =>
    uses.map((use) => ({
      subject: splitSubject(use.subject).name,
      version: use.version,
      deleted: !keys.has(keyOf(use)),
    })));
}

/** @param {{subject: string, version: number}} use */
function keyOf(use) {
  return `${use.version} ${use.subject}`;
}

/**
 * The versions with an id; empty if the registry does not know the id.
 * @param {Promise<{subject: string, version: number}[]>} asked
 * @returns {Promise<Fact<{subject: string, version: number}[]>>}
 */
async function versionsOf(asked) {
  const versions = await factOf(asked);
  return versions.gap === "absent" ? known([]) : versions;
}
