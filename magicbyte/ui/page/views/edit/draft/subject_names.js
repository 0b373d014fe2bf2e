/**
 * Names of subjects by the strategies of the serializers.
 *
 * @import { SchemaType } from "../code/open_editor.js"
 */

export const STRATEGIES = [
  { value: "topic", label: "Topic" },
  { value: "record", label: "Record" },
  { value: "topic-record", label: "Topic and record" },
  { value: "any", label: "Any name" },
];

/**
 * Returns the subject's name; empty if a part of the name is missing.
 * @param {{strategy: string, topic: string, part: "key" | "value", name: string}} choice
 * @param {string | null} record
 */
export function subjectName({ strategy, topic, part, name }, record) {
  if (strategy === "any") return name;
  if (strategy === "record") return record ?? "";
  if (topic === "") return "";
  if (strategy === "topic") return `${topic}-${part}`;
  return record === null ? "" : `${topic}-${record}`;
}

/**
 * Returns the full name of the text's record, message or titled object, as serializers use the name.
 * @param {string} text
 * @param {SchemaType} type
 * @returns {string | null}
 */
export function recordName(text, type) {
  if (type === "PROTOBUF") {
    const code = text.replace(/\/\/[^\n]*|\/\*[^]*?\*\//g, "");
    const name = /\bmessage\s+(\w+)/.exec(code)?.[1];
    const space = /\bpackage\s+([\w.]+)\s*;/.exec(code)?.[1];
    return name === undefined ? null : space === undefined ? name : `${space}.${name}`;
  }
  let schema;
  try {
    schema = JSON.parse(text);
  } catch {
    return null;
  }
  const name = type === "JSON" ? schema?.title : schema?.name;
  if (typeof name !== "string" || name === "") return null;
  const space = type === "JSON" || name.includes(".") ? undefined : schema.namespace;
  return typeof space === "string" && space !== "" ? `${space}.${name}` : name;
}

/** The text that a new subject begins with. */
export const FIRST_TEXTS = {
  AVRO: `{
  "type": "record",
  "name": "Example",
  "namespace": "com.example",
  "fields": [
    {
      "name": "id",
      "type": "string"
    }
  ]
}
`,
  JSON: `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "Example",
  "type": "object",
  "properties": {
    "id": {
      "type": "string"
    }
  },
  "required": ["id"]
}
`,
  PROTOBUF: `syntax = "proto3";

package com.example;

message Example {
  string id = 1;
}
`,
};
