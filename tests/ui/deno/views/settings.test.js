import { known } from "../../../../magicbyte/ui/page/api/fact.js";
import { fieldOrigin } from "../../../../magicbyte/ui/page/views/settings/origins.js";
import { judged } from "../../../../magicbyte/ui/page/views/settings/refused_by.js";
import { equal } from "../generated.js";

Deno.test("the check of a level compares each version with its predecessors", () => {
  const verdicts = [
    { version: 4, backward: false, forward: false },
    { version: 3, backward: true, forward: true },
    { version: 2, backward: true, forward: false },
    { version: 1, backward: false, forward: true },
  ];
  equal(judged(3, [1, 2], "FULL", verdicts), { version: 3, backward: [], forward: [2] });
  equal(judged(3, [1, 2], "BACKWARD_TRANSITIVE", verdicts), { version: 3, backward: [1], forward: [] });
  equal(judged(3, [1, 2], "BACKWARD", verdicts), null);
  equal(judged(3, [1, 2], "NONE", verdicts), null);
});

Deno.test("settings say where they come from", () => {
  equal(fieldOrigin({ a: 1 }, known({ a: 1 }), "s"), "from the registry");
  equal(fieldOrigin(false, known(undefined), "s"), "its own");
  equal(fieldOrigin(false, known(false), ""), "its own");
  equal(fieldOrigin(undefined, known(true), "s"), "not set");
  equal(fieldOrigin(true, { gap: "forbidden", reason: "" }, "s"), "origin unknown");
});
