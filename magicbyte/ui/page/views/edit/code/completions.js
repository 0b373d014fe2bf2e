/** The editor's completions: keywords of the type, and words of the text. */
import { completeAnyWord, completeFromList, EditorState } from "../../../vendor/editor.js";

/** @import { SchemaType } from "./open_editor.js" */

const WORDS = {
  AVRO: "aliases array boolean bytes date decimal default doc double duration enum fields fixed float int items " +
    "local-timestamp-micros local-timestamp-millis logicalType long map name namespace null order precision record " +
    "scale size string symbols time-micros time-millis timestamp-micros timestamp-millis type uuid values",
  JSON: "$anchor $comment $defs $dynamicRef $id $ref $schema additionalItems additionalProperties allOf anyOf array " +
    "boolean const contains contentEncoding contentMediaType default definitions dependentRequired dependentSchemas " +
    "deprecated description else enum examples exclusiveMaximum exclusiveMinimum format if integer items maxItems " +
    "maxLength maxProperties maximum minItems minLength minProperties minimum multipleOf not null number object " +
    "oneOf pattern patternProperties prefixItems properties propertyNames readOnly required string then title type " +
    "unevaluatedItems unevaluatedProperties uniqueItems writeOnly",
  PROTOBUF: "bool bytes double enum fixed32 fixed64 float import int32 int64 map message oneof option optional " +
    "package public repeated reserved returns rpc service sfixed32 sfixed64 sint32 sint64 stream string syntax to " +
    "uint32 uint64 weak",
};

/** @param {SchemaType} type */
export function completions(type) {
  const words = completeFromList(WORDS[type].split(" "));
  return [
    EditorState.languageData.of(() => [{ autocomplete: words }, { autocomplete: completeAnyWord }]),
  ];
}
