import { ApiError } from "../../../../magicbyte/ui/page/api/client.js";
import { cellFact, factOf, gapOf, mapped, valueOr } from "../../../../magicbyte/ui/page/api/fact.js";
import { notChecked } from "../../../../magicbyte/ui/page/views/edit/checking.js";
import { equal } from "../generated.js";

const refused = (/** @type {number} */ status, /** @type {number} */ code) =>
  new ApiError({ status, code, message: "m" });

Deno.test("forbidden, too costly, absent and unknown are four gaps, and a failure is no gap", () => {
  equal(gapOf(refused(403, 40301)), "forbidden");
  equal(gapOf(refused(422, 42209)), "costly");
  equal(gapOf(refused(404, 40401)), "absent");
  equal(gapOf(refused(404, 404)), "unknown");
  equal(gapOf(refused(405, 405)), "unknown");
  for (const error of [refused(422, 42201), refused(500, 50001), refused(0, 0), new TypeError("x"), null]) {
    equal(gapOf(error), null);
  }
});

Deno.test("a fact is a value or a gap with the registry's sentence", async () => {
  equal(await factOf(Promise.resolve("FULL")), { gap: null, value: "FULL" });
  const hidden = await factOf(Promise.reject(refused(403, 40301)));
  equal(hidden, { gap: "forbidden", reason: "m" });
  equal(mapped(hidden, String), hidden);
  equal(valueOr(hidden, "other"), "other");
  const failure = refused(500, 50001);
  equal(await factOf(Promise.reject(failure)).catch((error) => error === failure), true);
});

Deno.test("a null cell means that the user may not read the value", () => {
  equal(cellFact(false), { gap: null, value: false });
  equal(cellFact(null).gap, "forbidden");
});

Deno.test("an unchecked text is not invalid and has no earlier verdict", () => {
  for (const failure of [refused(422, 42209), refused(403, 40301), refused(500, 50001), refused(0, 0)]) {
    equal(notChecked("t", failure), { failure, checked: null, invalid: null });
  }
  equal(notChecked("t", refused(422, 42201)), { invalid: { sent: "t", message: "m", position: null } });
});
