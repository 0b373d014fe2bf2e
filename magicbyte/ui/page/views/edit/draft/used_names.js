/**
 * The names that a text uses but does not define. Each needs a reference.
 *
 * @import { SchemaType } from "../code/open_editor.js"
 */

const PRIMITIVES = new Set(["null", "boolean", "int", "long", "float", "double", "bytes", "string"]);
const COMPLEX = new Set(["record", "enum", "array", "map", "fixed", "error"]);
/** Imports that every Protobuf schema may have without a reference. */
const BUILT_IN = /^(google\/protobuf|google\/type|confluent)\//;

/**
 * Returns the names in the order of the text; empty while the text cannot be parsed.
 * @param {string} text
 * @param {SchemaType} type
 * @returns {string[]}
 */
export function usedNames(text, type) {
  if (type === "PROTOBUF") return protobufImports(text);
  let schema;
  try {
    schema = JSON.parse(text);
  } catch {
    return [];
  }
  return type === "AVRO" ? avroNames(schema) : jsonReferences(schema);
}

/** @param {string} text */
function protobufImports(text) {
  const code = text.replace(/\/\/[^\n]*|\/\*[^]*?\*\//g, "");
  const imports = [...code.matchAll(/\bimport\s+(?:public\s+|weak\s+|option\s+)?"([^"]+)"/g)];
  return unique(imports.map(([, path]) => path).filter((path) => !BUILT_IN.test(path)));
}

/** @param {unknown} schema */
function avroNames(schema) {
  const defined = new Set();
  /** @type {string[]} */
  const used = [];
  /** @type {(value: any, namespace: string) => void} */
  const visit = (value, namespace) => {
    if (typeof value === "string") {
      if (!PRIMITIVES.has(value)) used.push(fullName(value, namespace));
    } else if (Array.isArray(value)) value.forEach((branch) => visit(branch, namespace));
    else if (value !== null && typeof value === "object") visitObject(value, namespace);
  };
  /** @type {(value: any, namespace: string) => void} */
  const visitObject = (value, namespace) => {
    if (!COMPLEX.has(value.type)) return visit(value.type, namespace);
    let inner = namespace;
    if (typeof value.name === "string") {
      const name = fullName(value.name, typeof value.namespace === "string" ? value.namespace : namespace);
      defined.add(name);
      inner = name.includes(".") ? name.slice(0, name.lastIndexOf(".")) : "";
    }
    if (Array.isArray(value.fields)) value.fields.forEach((/** @type {any} */ field) => visit(field?.type, inner));
    if (value.type === "array") visit(value.items, inner);
    if (value.type === "map") visit(value.values, inner);
  };
  visit(schema, "");
  return unique(used.filter((name) => !defined.has(name)));
}

/**
 * @param {string} name
 * @param {string} namespace
 */
function fullName(name, namespace) {
  return name.includes(".") || namespace === "" ? name : `${namespace}.${name}`;
}

/** @param {unknown} schema */
function jsonReferences(schema) {
  const ids = new Set();
  /** @type {string[]} */
  const used = [];
  /** @type {unknown[]} */
  const waiting = [schema];
  while (waiting.length) {
    const value = waiting.shift();
    if (value === null || typeof value !== "object") continue;
    for (const [key, member] of Object.entries(value)) {
      if (key === "$id" && typeof member === "string") ids.add(member);
      else if (key === "$ref" && typeof member === "string") used.push(member.split("#")[0]);
      else waiting.push(member);
    }
  }
  return unique(used.filter((name) => name !== "" && !ids.has(name)));
}

/** @param {string[]} names */
function unique(names) {
  return [...new Set(names)];
}
