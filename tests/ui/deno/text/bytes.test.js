import {
  cells,
  dump,
  fromBase64,
  guess,
  parseBytes,
  plainText,
  toBase64,
  toEscapes,
  toHex,
} from "../../../../magicbyte/ui/page/text/bytes.js";
import { equal, random } from "../generated.js";

/** @param {string} text @param {import("../../../../magicbyte/ui/page/text/bytes.js").Form} [form] */
function hexOf(text, form) {
  const parsed = parseBytes(text, form);
  return "error" in parsed ? `${parsed.at}: ${parsed.error}` : `${parsed.form} ${toHex(parsed.bytes)}`;
}

Deno.test("the forms in which tools print bytes", () => {
  equal(hexOf("00 00 00 00 2a 06"), "hex 000000002a06");
  equal(hexOf("0x000000002A06"), "hex 000000002a06");
  equal(hexOf("00:00:00:00:2a"), "hex 000000002a");
  equal(hexOf("0x00, 0x00, 0x2a"), "hex 00002a");
  equal(hexOf("AAAAACoG"), "base64 000000002a06");
  equal(hexOf("AAAAAA=="), "base64 00000000");
  equal(hexOf("-_8="), "base64 fbff");
  equal(hexOf("b'\\x00\\x00\\x00\\x00*\\x06ab\\n\\\\'"), "escapes 000000002a0661620a5c");
  equal(hexOf("\\0\\0\\0\\0\\052é"), "escapes 000000002ac3a9");
  equal(hexOf("00000000: 0000 0000 2a06 4142  ....*.AB\n00000008: 43                   C"), "hex 000000002a06414243");
  equal(
    hexOf("00000000  00 00 00 00 2a 06 41 42  43                       |....*.ABC|\n00000009"),
    "hex 000000002a06414243",
  );
  equal(hexOf(""), "hex ");
  equal(guess("cafe"), "hex");
});

Deno.test("an unreadable text gets an error with reason and place", () => {
  equal(hexOf("00 0g", "hex"), "4: “g” is no hexadecimal digit.");
  equal(hexOf("000"), "3: There are 3 hexadecimal digits: half a byte is missing.");
  equal(hexOf("A", "base64"), "1: This is no base64: characters are missing at its end.");
  equal(hexOf("a!", "base64"), "1: “!” is not in the alphabet of base64.");
  equal(hexOf("\\x00\\q", "escapes"), "4: \\q is no escape; write a byte as \\x00.");
  equal(hexOf("00".repeat((1 << 20) + 1)), "0: These are more than 1 MiB.");
});

Deno.test("bytes survive each form", () => {
  const next = random(7);
  for (let round = 0; round < 200; round += 1) {
    const bytes = Uint8Array.from({ length: next(40) }, () => next(256));
    equal(hexOf(toHex(bytes, " "), "hex"), `hex ${toHex(bytes)}`);
    equal(hexOf(toBase64(bytes), "base64"), `base64 ${toHex(bytes)}`);
    equal(hexOf(toEscapes(bytes), "escapes"), `escapes ${toHex(bytes)}`);
    equal(toHex(fromBase64(toBase64(bytes))), toHex(bytes));
  }
});

/** @param {string} hex @param {Parameters<typeof cells>[1]} [known] */
function cellsOf(hex, known) {
  const parsed = parseBytes(hex, "hex");
  if ("error" in parsed) throw new Error(parsed.error);
  return cells(parsed.bytes, known).map(({ kind, from, to, words }) => `${kind} ${from}-${to} ${words}`);
}

Deno.test("the cells of a message", () => {
  equal(cellsOf("000000002a0648"), ["magic 0-1 0", "id 1-5 42", "payload 5-7 2 bytes"]);
  equal(cellsOf("00ffffffff01"), ["magic 0-1 0", "id 1-5 4294967295", "payload 5-6 1 byte"]);
  equal(cellsOf("0000"), ["magic 0-1 0", "id 1-2 cut off"]);
  equal(cellsOf(""), []);
  equal(cellsOf("0548"), ["magic 0-1 5: neither 0 nor 1", "payload 1-2 1 byte"]);
  equal(cellsOf("0548", { framed: false }), ["payload 0-2 2 bytes"]);
  equal(cellsOf("000000000200ff", { index: "00" }), [
    "magic 0-1 0",
    "id 1-5 2",
    "index 5-6 first message",
    "payload 6-7 1 byte",
  ]);
  equal(cellsOf("00000000020402020a", { index: "040202" })[2], "index 5-8 message 1.1");
  equal(cellsOf("01f81d4fae7dec11d0a76500a0c91e6bf6ff")[1], "guid 1-17 f81d4fae-7dec-11d0-a765-00a0c91e6bf6");
});

Deno.test("a dump, and bytes without a schema", () => {
  equal(dump(Uint8Array.from([0, 65, 127])), [{ offset: "0000", bytes: ["00", "41", "7f"], text: "·A·" }]);
  const plain = (/** @type {string} */ text) => plainText(new TextEncoder().encode(text));
  equal(plain("UA"), { kind: "text", text: "UA" });
  equal(plain('{"a": 1}'), { kind: "JSON", text: '{"a": 1}' });
  equal(plain("{a"), { kind: "text", text: "{a" });
  equal(plainText(Uint8Array.from([0, 0, 0, 0, 1])), null);
  equal(plainText(Uint8Array.from([255, 65])), null);
});
