/** Lays out the registry's versions for the editor. */
import { layOut } from "../../../text/in_worker.js";
import { asStored, pretty } from "../../../text/pretty.js";

/**
 * The pretty text of a version, with the editor's line ends.
 * @param {{schema: string, schemaType?: string}} stored
 */
export function laidOut({ schema, schemaType }) {
  const type = /** @type {import("../code/open_editor.js").SchemaType} */ (schemaType ?? "AVRO");
  return pretty(asStored(schema, type)).text.replace(/\r\n?/g, "\n");
}

/**
 * As `laidOut`, but a worker lays out long texts.
 * @param {{schema: string, schemaType?: string}} stored
 * @param {AbortSignal} signal
 */
export async function laidOutInWorker({ schema, schemaType }, signal) {
  const type = /** @type {import("../code/open_editor.js").SchemaType} */ (schemaType ?? "AVRO");
  return (await layOut({ text: schema, type }, signal)).laidOut.text.replace(/\r\n?/g, "\n");
}

/** @param {number[]} versions */
export function latestOf(versions) {
  return Math.max(0, ...versions);
}
