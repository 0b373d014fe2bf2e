/** Versions as the registry has them, for the editor. */
import { asStored, pretty } from "../../../text/pretty.js";

/**
 * A version's text as the page shows it, with the editor's line ends.
 * @param {{schema: string, schemaType?: string}} stored
 */
export function laidOut({ schema, schemaType }) {
  const type = /** @type {import("../code/open_editor.js").SchemaType} */ (schemaType ?? "AVRO");
  return pretty(asStored(schema, type)).text.replace(/\r\n?/g, "\n");
}

/** @param {number[]} versions */
export function latestOf(versions) {
  return Math.max(0, ...versions);
}
