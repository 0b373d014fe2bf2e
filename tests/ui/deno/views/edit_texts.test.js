import { equal } from "../generated.js";
import { bodyOf, problemOf } from "../../../../magicbyte/ui/page/views/edit/draft/drafts.js";
import { extentOf } from "../../../../magicbyte/ui/page/views/edit/code/extents.js";
import { recordName, subjectName } from "../../../../magicbyte/ui/page/views/edit/draft/subject_names.js";
import { usedNames } from "../../../../magicbyte/ui/page/views/edit/draft/used_names.js";

Deno.test("a Protobuf text uses its imports, but not the built-in ones and not those in comments", () => {
  const text = `syntax = "proto3";
import "acme/common/address.proto";
import public "acme/money.proto"; // import "no.proto";
import "google/protobuf/timestamp.proto";`;
  equal(usedNames(text, "PROTOBUF"), ["acme/common/address.proto", "acme/money.proto"]);
});

Deno.test("an Avro text uses the names that it does not define, with their namespace", () => {
  const text = JSON.stringify({
    type: "record",
    name: "acme.Order",
    fields: [
      { name: "line", type: { type: "array", items: { type: "record", name: "Line", fields: [] } } },
      { name: "again", type: ["null", "Line", "acme.Line"] },
      { name: "buyer", type: "Customer" },
      { name: "price", type: { type: "map", values: "money.Price" } },
      { name: "default", type: "string", default: "Customer" },
    ],
  });
  equal(usedNames(text, "AVRO"), ["acme.Customer", "money.Price"]);
  equal(usedNames("{", "AVRO"), []);
});

Deno.test("a JSON Schema uses the schemas that its external references name", () => {
  const text = JSON.stringify({
    $id: "http://acme/order",
    properties: { a: { $ref: "#/$defs/a" }, b: { $ref: "address.json#/x" }, c: { $ref: "http://acme/order#/d" } },
  });
  equal(usedNames(text, "JSON"), ["address.json"]);
});

Deno.test("a subject has the name that serializers give", () => {
  const choice = { strategy: "topic", topic: "orders", part: /** @type {"key"} */ ("key"), name: "x" };
  const record = recordName('{"type":"record","name":"Order","namespace":"acme"}', "AVRO");
  equal(subjectName(choice, record), "orders-key");
  equal(subjectName({ ...choice, strategy: "record" }, record), "acme.Order");
  equal(subjectName({ ...choice, strategy: "topic-record" }, record), "orders-acme.Order");
  equal(subjectName({ ...choice, strategy: "any" }, record), "x");
  equal(subjectName({ ...choice, topic: "" }, record), "");
  equal(recordName("package a.b; message M {}", "PROTOBUF"), "a.b.M");
  equal(recordName('{"title":"T"}', "JSON"), "T");
  equal(recordName("{", "AVRO"), null);
});

Deno.test("a request body has all parts of the draft", () => {
  const draft = {
    text: '"int"',
    type: /** @type {const} */ ("AVRO"),
    from: 1,
    base: 1,
    references: [],
    metadata: "",
    ruleSet: " ",
    normalize: false,
  };
  equal(bodyOf(draft), { schema: '"int"' });
  const metadata = '{"properties": {"owner": "team"}}';
  equal(bodyOf({ ...draft, type: "JSON", metadata }), {
    schema: '"int"',
    schemaType: "JSON",
    metadata: { properties: { owner: "team" } },
  });
  equal(problemOf("[1]", "The metadata"), "The metadata is not a JSON object");
  equal(problemOf("", "The metadata"), null);
});

Deno.test("a place is underlined to its line's end, and its note stands before the bracket that closes it", () => {
  const text = '{\n  "a": [\n    {\n      "b": "}"\n    },\n    1\n  ]\n}';
  const brace = text.indexOf("    {") + 4;
  const { to, end } = extentOf(text, brace);
  equal(text.slice(brace, to), "{");
  equal(text.slice(0, end + 1).split("\n").length, 4);
  const one = text.indexOf("1");
  equal(extentOf(text, one), { to: one + 1, end: one + 1 });
});
