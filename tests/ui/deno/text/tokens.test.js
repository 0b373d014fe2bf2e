import { asStored, pretty } from "../../../../magicbyte/ui/page/text/pretty.js";
import { tokenizeJson } from "../../../../magicbyte/ui/page/text/tokens_json.js";
import { tokenizeProto } from "../../../../magicbyte/ui/page/text/tokens_proto.js";
import { equal, jsonText, protoText, random } from "../generated.js";

/** @param {string} text @param {import("../../../../magicbyte/ui/page/text/tokens_json.js").Tokens} tokens */
function described(text, tokens) {
  return tokens.kinds.map((kind, index) => `${kind} ${text.slice(tokens.starts[index], tokens.ends[index])}`);
}

/** @param {string} text @param {import("../../../../magicbyte/ui/page/text/tokens_json.js").Tokens} tokens */
function texts(text, tokens) {
  return Array.from(tokens.starts, (start, index) => text.slice(start, tokens.ends[index]));
}

Deno.test("the tokens of a JSON text", () => {
  const text = '{"a\\"b" : [1.50e+3, -0, true], "a\\"b":null, "é": "x:y"}';
  equal(described(text, tokenizeJson(text)), [
    "punctuation {",
    'key "a\\"b"',
    "punctuation :",
    "punctuation [",
    "number 1.50e+3",
    "punctuation ,",
    "number -0",
    "punctuation ,",
    "keyword true",
    "punctuation ]",
    "punctuation ,",
    'key "a\\"b"',
    "punctuation :",
    "keyword null",
    "punctuation ,",
    'key "é"',
    "punctuation :",
    'string "x:y"',
    "punctuation }",
  ]);
});

Deno.test("invalid JSON becomes tokens of the kind other, and an open string ends with its line", () => {
  const text = '{oops: "open\n} - 😀';
  equal(described(text, tokenizeJson(text)), [
    "punctuation {",
    "other oops",
    "punctuation :",
    'string "open',
    "punctuation }",
    "other -",
    "other 😀",
  ]);
});

Deno.test("the tokens of a .proto text", () => {
  const text = 'syntax = "proto3"; // a; b\nmessage A { /* x */ optional .acme.B optional = 0x1F [(o) = 1.5e-3]; }';
  equal(described(text, tokenizeProto(text)), [
    "keyword syntax",
    "punctuation =",
    'string "proto3"',
    "punctuation ;",
    "comment // a; b",
    "keyword message",
    "name A",
    "punctuation {",
    "comment /* x */",
    "keyword optional",
    "punctuation .",
    "name acme",
    "punctuation .",
    "name B",
    "key optional",
    "punctuation =",
    "number 0x1F",
    "punctuation [",
    "punctuation (",
    "name o",
    "punctuation )",
    "punctuation =",
    "number 1.5e-3",
    "punctuation ]",
    "punctuation ;",
    "punctuation }",
  ]);
});

Deno.test("a comment that never ends is one token", () => {
  equal(described("/* a", tokenizeProto("/* a")), ["comment /* a"]);
});

Deno.test("pretty JSON keeps numbers, escapes, the order of keys and duplicate keys", () => {
  const stored = '{"b":1.0,"a":9223372036854775807,"b":"\\u00e9\\/","e":{},"l":[],"s":["x",1],"o":[{"x":[]}]}';
  equal(
    pretty(asStored(stored, "JSON")).text,
    `{
  "b": 1.0,
  "a": 9223372036854775807,
  "b": "\\u00e9\\/",
  "e": {},
  "l": [],
  "s": ["x", 1],
  "o": [
    {
      "x": []
    }
  ]
}`,
  );
});

Deno.test("an array of plain values breaks when it is wider than 80 columns", () => {
  const symbols = Array.from({ length: 12 }, (_, index) => `SYMBOL_${index}`);
  const text = pretty(asStored(JSON.stringify({ symbols }), "AVRO")).text;
  equal(text.split("\n").slice(0, 3), ["{", '  "symbols": [', '    "SYMBOL_0",']);
  equal(pretty(asStored('{"symbols":["AA","B6"]}', "AVRO")).text, '{\n  "symbols": ["AA", "B6"]\n}');
});

Deno.test("a .proto text keeps its lines, and a .proto text without lines gets some", () => {
  const written = 'syntax = "proto3";\n\nmessage A {\n   int32 x = 1;\n}\n';
  equal(pretty(asStored(written, "PROTOBUF")).text, written);
  equal(
    pretty(asStored("message A{int32 x=1[deprecated=true];map<string,B> m=2;message B{}}", "PROTOBUF")).text,
    "message A {\n  int32 x = 1[deprecated=true];\n  map<string,B> m = 2;\n  message B {}\n}",
  );
});

Deno.test("the pretty text and the stored text have the same tokens", () => {
  const next = random(25);
  for (let round = 0; round < 2000; round += 1) {
    const type = round % 3 === 0 ? "PROTOBUF" : "AVRO";
    const text = type === "PROTOBUF" ? protoText(next) : jsonText(next);
    const stored = asStored(text, type);
    const laidOut = pretty(stored);
    const again = asStored(laidOut.text, type);
    equal(texts(laidOut.text, laidOut.tokens), texts(text, stored.tokens));
    equal(texts(laidOut.text, again.tokens), texts(text, stored.tokens));
    equal(again.tokens.kinds, stored.tokens.kinds);
    equal(pretty(again).text, laidOut.text, text);
  }
});

Deno.test("ten megabytes are split within seconds", () => {
  const text = `{"fields":[${'{"name":"a","type":"string","doc":"x"},'.repeat(250_000)}{}]}`;
  const began = performance.now();
  equal(pretty(asStored(text, "AVRO")).tokens.starts.length, 6 + 250_000 * 14 + 2);
  equal(performance.now() - began < 20_000, true);
});
