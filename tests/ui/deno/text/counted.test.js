import { counted, numbered } from "../../../../magicbyte/ui/page/text/counted.js";
import { lackWords, originWords } from "../../../../magicbyte/ui/page/text/phrases.js";
import { equal } from "../generated.js";

Deno.test("a count has its noun in the right number", () => {
  equal(counted(0, "partition"), "0 partitions");
  equal(counted(1, "partition"), "1 partition");
  equal(counted(20_000, "entry", "entries"), "20,000 entries");
  equal([numbered(1, "is", "are"), numbered(2, "is", "are"), numbered(1, "right")], ["is", "are", "right"]);
});

Deno.test("a fact has one phrase", () => {
  const origins = ["subject", "context", "global", "server", "inherited", undefined];
  equal(origins.map((origin) => originWords(origin)), [
    "its own",
    "from the context",
    "from the registry",
    "from the registry",
    "inherited",
    "",
  ]);
  equal(origins.slice(2, 4).map((origin) => originWords(origin, true)), ["its own", "by default"]);
  equal(lackWords(["WRITE"], "the subject a"), "You lack the right WRITE on the subject a.");
  equal(lackWords(["WRITE", "DELETE"], "any subject"), "You lack the rights WRITE and DELETE on any subject.");
});
