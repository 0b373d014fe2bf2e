import { ApiError, Transport } from "../../../../magicbyte/ui/page/api/transport.js";
import { path } from "../../../../magicbyte/ui/page/api/encode_url.js";
import { equal } from "../generated.js";

/** @param {string[]} sent receives the addresses of requests */
const recording = (sent) =>
  new Transport({
    address: (target) => {
      sent.push(target);
      return "data:application/json,{}";
    },
    askCredentials: () => Promise.resolve(""),
    tell: () => {},
  });

Deno.test("a name that a browser would take for a part of the address is not sent", async () => {
  /** @type {string[]} */
  const sent = [];
  const transport = recording(sent);
  for (const name of [".", ".."]) {
    for (const [method, target] of [["PUT", path`/config/${name}`], ["DELETE", path`/subjects/${name}/versions/1`]]) {
      const error = await transport.call(method, target).catch((/** @type {any} */ reason) => reason);
      equal(error instanceof ApiError, true);
      equal([error.status, error.message], [400, `A browser cannot ask for the name ${name}; use a command.`]);
    }
  }
  equal(sent, []);
  for (const name of ["...", "a..b", "../config", "%2e%2e"]) await transport.call("GET", path`/subjects/${name}`);
  equal(sent, ["/subjects/...", "/subjects/a..b", "/subjects/..%2Fconfig", "/subjects/%252e%252e"]);
});
