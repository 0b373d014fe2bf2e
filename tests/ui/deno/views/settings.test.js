import { known } from "../../../../magicbyte/ui/page/api/fact.js";
import { fieldOrigin, originWords } from "../../../../magicbyte/ui/page/views/settings/origins.js";
import { judged } from "../../../../magicbyte/ui/page/views/settings/refused_by.js";
import { equal } from "../generated.js";

Deno.test("a level is judged against the versions before, as it would have been then", () => {
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
  equal(originWords("subject", "s"), "set on this subject");
  equal(originWords("global", ""), "set on the registry");
  equal(originWords("server", "s"), "the server's default");
  equal(fieldOrigin({ a: 1 }, known({ a: 1 }), "s"), "from the registry");
  equal(fieldOrigin(false, known(undefined), "s"), "set on this subject");
  equal(fieldOrigin(undefined, known(true), "s"), "not set");
  equal(fieldOrigin(true, { gap: "forbidden", reason: "" }, "s"), "set, where is unknown");
});
