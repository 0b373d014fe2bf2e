import { jsonLines } from "../../../../magicbyte/ui/page/api/json_lines.js";
import { equal } from "../generated.js";

/** A body that arrives in parts, and how many of them were read. @param {Uint8Array[]} parts */
function arriving(parts) {
  const read = { parts: 0 };
  const body = new ReadableStream({
    pull(controller) {
      if (read.parts === parts.length) controller.close();
      else controller.enqueue(parts[read.parts++]);
    },
  }, { highWaterMark: 0 });
  return { body, read };
}

const bytes = new TextEncoder().encode('{"name":"é"}\n\n[1,\r2]\n"end"');

Deno.test("lines are read wherever the bytes are cut", async () => {
  for (let size = 1; size <= bytes.length; size++) {
    const parts = [];
    for (let at = 0; at < bytes.length; at += size) parts.push(bytes.slice(at, at + size));
    equal(await Array.fromAsync(jsonLines(arriving(parts))), [{ name: "é" }, [1, 2], "end"]);
  }
});

Deno.test("the reader reads the next line only on demand", async () => {
  const { body, read } = arriving([bytes.slice(0, 14), bytes.slice(14)]);
  const lines = jsonLines({ body });
  equal((await lines.next()).value, { name: "é" });
  equal(read.parts, 1);
  equal((await lines.next()).value, [1, 2]);
});

Deno.test("a line that is cut is an error", async () => {
  const lines = jsonLines(arriving([bytes.slice(0, 5)]));
  let failure = null;
  await lines.next().catch((error) => failure = error.name);
  equal(failure, "SyntaxError");
});
