/** Versions as the registry has them, for the editor. */
import { layOut } from "../../../text/in_worker.js";
import { asStored, pretty } from "../../../text/pretty.js";

/**
 * A version's text as the page shows it, with the editor's line ends.
 * @param {{schema: string, schemaType?: string}} stored
 */
export function laidOut({ schema, schemaType }) {
  const type = /** @type {import("../code/open_editor.js").SchemaType} */ (schemaType ?? "AVRO");
  return pretty(asStored(schema, type)).text.replace(/\r\n?/g, "\n");
}

/**
 * As `laidOut`; a long text is laid out beside the page.
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
