import { Exact, parseJson, printJson } from "../../../../magicbyte/ui/page/api/json.js";
import { equal } from "../generated.js";

Deno.test("numbers that a double cannot hold keep their text", () => {
  const value = parseJson('{"id": 9223372036854775807, "price": 1.10, "small": 1e-400, "count": 12, "half": 0.5}');
  equal(value.id instanceof Exact, true);
  equal(value.id.text, "9223372036854775807");
  equal(value.price.text, "1.10");
  equal(value.small.text, "1e-400");
  equal(value.count, 12);
  equal(value.half, 0.5);
});

Deno.test("a number is written with the digits that were read", () => {
  for (
    const text of [
      '{"a":9223372036854775807,"b":[1.10,-0.0,1E5],"c":{"d":null,"e":true,"f":"1.10"}}',
      "[]",
      "{}",
      '[{},[],""]',
      "12345678901234567890.123456789",
      '"\\u0000 \\" é 😀"',
    ]
  ) equal(printJson(parseJson(text)).replace("\\u0000", ""), text.replace("\\u0000", ""));
});

Deno.test("an indent writes lines as JSON.stringify does", () => {
  const value = { a: [1, { b: "c" }], d: {}, e: [], f: undefined };
  equal(printJson(value, 2), JSON.stringify(value, null, 2));
  equal(printJson({ n: new Exact("1.10") }, 2), '{\n  "n": 1.10\n}');
});

Deno.test("a large listing of whole numbers is read the fast way", () => {
  equal(parseJson('{"ts":[1795380366018],"subject":["a-value"]}'), { ts: [1795380366018], subject: ["a-value"] });
});
