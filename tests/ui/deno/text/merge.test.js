import { mayTakeBoth, mergedText } from "../../../../magicbyte/ui/page/text/merge.js";
import { asStored, pretty } from "../../../../magicbyte/ui/page/text/pretty.js";
import { mergeTexts } from "../comparing.js";
import { equal, jsonText, pick, protoText, random } from "../generated.js";

/** @typedef {import("../../../../magicbyte/ui/page/text/merge.js").Choice} Choice */
/** @typedef {import("../../../../magicbyte/ui/page/text/merge.js").Piece} Piece */

const lines = (/** @type {string} */ text) => text.split(" ").join("\n");

/** The stretches as words: `=same <mine >theirs !equal ?base|mine|theirs`. @param {Piece[] | null} pieces */
function told(pieces) {
  return (pieces ?? []).map(({ kind, base, mine, theirs }) => {
    const text = (/** @type {string[]} */ side) => side.map((line) => line.trim()).join(" ");
    if (kind === "same") return `=${text(mine)}`;
    if (kind === "mine") return `<${text(mine)}`;
    if (kind === "theirs") return `>${text(theirs)}`;
    return kind === "equal" ? `!${text(mine)}` : `?${[base, mine, theirs].map(text).join("|")}`;
  });
}

/** @type {[string, string, string, string, string[]][]} */
const CASES = [
  ["nothing changes", "a b c", "a b c", "a b c", ["=a b c"]],
  ["one side changes a line", "a b c", "a B c", "a b c", ["=a", "<B", "=c"]],
  ["the other side changes a line", "a b c", "a b c", "a B c", ["=a", ">B", "=c"]],
  ["each side changes another line", "a b c d e", "A b c d e", "a b c d E", ["<A", "=b c d", ">E"]],
  ["lines that follow each other are changed apart", "a b c d", "a B c d", "a b C d", ["=a", "<B", ">C", "=d"]],
  ["both change a line in the same way", "a b c", "a B c", "a B c", ["=a", "!B", "=c"]],
  ["both change a line differently", "a b c", "a X c", "a Y c", ["=a", "?b|X|Y", "=c"]],
  ["one side removes what the other changes", "a b c", "a c", "a B c", ["=a", "?b||B", "=c"]],
  ["both remove the same", "a b c", "a c", "a c", ["=a", "!", "=c"]],
  ["one side removes", "a b c", "a c", "a b c", ["=a", "<", "=c"]],
  ["each side adds at another place", "a b c", "x a b c", "a b c y", ["<x", "=a b c", ">y"]],
  ["both add at one place", "a b", "a x b", "a y b", ["=a", "?|x|y", "=b"]],
  ["both add the same", "a b", "a x b", "a x b", ["=a", "!x", "=b"]],
  ["one adds more than the other", "a b", "a x y b", "a x b", ["=a", "!x", "<y", "=b"]],
  ["both end with the same addition", "a b", "a x z b", "a y z b", ["=a", "?|x|y", "!z", "=b"]],
  ["an added line beside a removed one", "a b c", "a c", "a b x c", ["=a", "?b||b x", "=c"]],
  ["replaced lines are decided together", "a b c", "a x y c", "a x z c", ["=a", "?b|x y|x z", "=c"]],
  ["replaced lines are decided together, to their end", "a b c", "a y x c", "a z x c", ["=a", "?b|y x|z x", "=c"]],
  ["objects that are cut open stay whole", "a", "a } { x", "a } { y", ["=a", "?|} { x|} { y"]],
  ["objects that are cut open stay whole, at their end", "a", "x } { a", "y } { a", ["?|x } {|y } {", "=a"]],
  ["one side begins from nothing", "", "a", "", ["<a"]],
];

Deno.test("lines are merged", () => {
  for (const [about, base, mine, theirs, expected] of CASES) {
    equal(told(mergeTexts(lines(base), lines(mine), lines(theirs))), expected, about);
  }
});

const field = (/** @type {string} */ name, type = '"int"') => `{"name":"${name}","type":${type},"default":0}`;
const record = (/** @type {string[]} */ ...fields) =>
  pretty(asStored(`{"type":"record","name":"R","fields":[${fields.join(",")}]}`, "AVRO")).text;

/** The merged text of JSON texts on one line, with one choice for all conflicts. @param {string} base @param {string} mine @param {string} theirs @param {Choice} [choice] */
function mergedJson(base, mine, theirs, choice) {
  const pieces = mergeTexts(base, mine, theirs, { json: true }) ?? [];
  const conflicts = pieces.filter(({ kind }) => kind === "conflict").length;
  return mergedText(pieces, new Array(conflicts).fill(choice), { json: true });
}

Deno.test("fields added by both sides follow each other and have their commas", () => {
  const [base, mine, theirs] = [record(field("a")), record(field("a"), field("m")), record(field("a"), field("t"))];
  equal(mergedJson(base, mine, theirs), null, "undecided");
  equal(mergedJson(base, mine, theirs, "both"), record(field("a"), field("t"), field("m")));
  equal(mergedJson(base, mine, theirs, "mine"), mine);
  equal(mergedJson(base, mine, theirs, "theirs"), theirs);
  const pieces = mergeTexts(base, mine, theirs, { json: true }) ?? [];
  equal(pieces.filter(mayTakeBoth).length, 1);
});

Deno.test("the merge has a field added by both sides once, and also takes an extra field of one side", () => {
  const base = record(field("a"));
  const theirs = record(field("a"), field("same"));
  equal(
    mergedJson(base, record(field("a"), field("same"), field("m")), theirs),
    record(field("a"), field("same"), field("m")),
  );
});

Deno.test("a comma after the last member is no change", () => {
  const base = record(field("a"), field("b"));
  const mine = record(field("a"), field("b", '"long"'));
  equal(
    mergedJson(base, mine, record(field("a"), field("b"), field("c"))),
    record(field("a"), field("b", '"long"'), field("c")),
  );
  equal(mergedJson(base, record(field("a")), base), record(field("a")), "the last field is removed");
});

Deno.test("a merge cannot take both replacements of one line", () => {
  const base = record(field("a"));
  const pieces = mergeTexts(base, record(field("a", '"long"')), record(field("a", '"string"')), { json: true }) ?? [];
  equal(told(pieces).filter((words) => words.startsWith("?")), ['?"type": "int",|"type": "long",|"type": "string",']);
  equal(pieces.filter(mayTakeBoth), []);
});

Deno.test("a merge keeps digits, duplicate keys, the order of keys and escapes", () => {
  const text = (/** @type {string} */ more) =>
    pretty(asStored(`{"z":9223372036854775807,"a":1.10,"a":1e400,"s":"\\u00e9,",${more}"k":[]}`, "JSON")).text;
  const mine = text('"m":12345678901234567890,');
  equal(mergedJson(text(""), mine, text("")), mine);
  equal(mergedJson(text(""), text(""), mine), mine);
});

Deno.test("Protobuf texts are merged as they are, comments and blank lines too", () => {
  const base = 'syntax = "proto3";\n\nmessage M {\n  int64 id = 1; // the id\n}\n';
  const mine = base.replace("int64 id", "string id");
  const theirs = base.replace("}\n", "  bool late = 2;\n}\n");
  const pieces = mergeTexts(base, mine, theirs) ?? [];
  // The added line follows the changed one, so somebody has to look.
  equal(told(pieces).filter((words) => words[0] === "?").length, 1);
  const apart = base.replace("message M {\n", "message M {\n  reserved 9;\n\n");
  const tail = `${base}\nmessage N {\n}\n`;
  equal(
    mergedText(mergeTexts(base, apart, tail) ?? [], []),
    'syntax = "proto3";\n\nmessage M {\n  reserved 9;\n\n  int64 id = 1; // the id\n}\n\nmessage N {\n}\n',
  );
});

Deno.test("texts that take too long to compare are not merged", () => {
  const many = (/** @type {string} */ mark) =>
    Array.from({ length: 30_000 }, (_, index) => `${mark}${index}`).join("\n");
  equal(mergeTexts(many("a"), many("b"), many("a"), { timeout: 50 }), null);
});

/** Three texts of few different lines. @param {import("../generated.js").Next} next */
function threeTexts(next) {
  const text = () => Array.from({ length: next(9) }, () => pick(next, ["{", "}", "a", "b", "c,", "c"])).join("\n");
  return [text(), text(), text()];
}

/** @param {Piece[]} pieces @param {"base" | "mine" | "theirs"} side */
const sideOf = (pieces, side) => pieces.flatMap((piece) => piece[side]).join("\n");

Deno.test("no line of any text is lost, and the sides change places", () => {
  const next = random(7);
  for (let round = 0; round < 3000; round += 1) {
    const [base, mine, theirs] = threeTexts(next);
    for (const json of [false, true]) {
      const pieces = mergeTexts(base, mine, theirs, { json }) ?? [];
      equal([sideOf(pieces, "base"), sideOf(pieces, "mine"), sideOf(pieces, "theirs")], [base, mine, theirs]);
      for (const piece of pieces) {
        if (piece.kind === "mine" && !json) equal(piece.base, piece.theirs);
        if (piece.kind === "theirs" && !json) equal(piece.base, piece.mine);
        if (piece.kind === "same" && !json) equal([piece.base, piece.base], [piece.mine, piece.theirs]);
      }
    }
    const swapped = told(mergeTexts(base, theirs, mine)).map((words) => words.replace(/^[<>]/, ""));
    const straight = told(mergeTexts(base, mine, theirs)).map((words) => words.replace(/^[<>]/, ""));
    equal(swapped.filter((words) => words[0] !== "?"), straight.filter((words) => words[0] !== "?"));
  }
});

Deno.test("a merge with an unchanged side is the other side, and a merge of equal sides is either", () => {
  const next = random(19);
  for (let round = 0; round < 400; round += 1) {
    const isProto = round % 2 === 0;
    const layout = () => {
      for (;;) {
        const text = isProto ? protoText(next) : jsonText(next);
        if (isProto) return pretty(asStored(text, "PROTOBUF")).text;
        try {
          JSON.parse(text);
        } catch {
          continue;
        }
        return pretty(asStored(text, "JSON")).text;
      }
    };
    const [base, other] = [layout(), layout()];
    for (const [mine, theirs] of [[other, base], [base, other], [other, other]]) {
      equal(mergedText(mergeTexts(base, mine, theirs, { json: !isProto }) ?? [], [], { json: !isProto }), other);
    }
  }
});
