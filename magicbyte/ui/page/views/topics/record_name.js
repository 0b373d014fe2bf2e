/** The name of a version's record or message, read from its text. */

/**
 * @param {{schema: string, schemaType?: string}} version
 * @returns {string} empty if it has none
 */
export function recordNameOf({ schema, schemaType = "AVRO" }) {
  if (schemaType === "PROTOBUF") {
    const plain = schema.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, "");
    const message = plain.match(/\bmessage\s+(\w+)/)?.[1] ?? "";
    const folder = plain.match(/\bpackage\s+([\w.]+)\s*;/)?.[1];
    return folder && message ? `${folder}.${message}` : message;
  }
  try {
    const parsed = JSON.parse(schema);
    if (typeof parsed === "string") return parsed;
    if (schemaType === "JSON") return typeof parsed?.title === "string" ? parsed.title : "";
    const { name = parsed?.type, namespace } = parsed ?? {};
    if (typeof name !== "string") return "";
    return namespace && !name.includes(".") ? `${namespace}.${name}` : name;
  } catch {
    return "";
  }
}
