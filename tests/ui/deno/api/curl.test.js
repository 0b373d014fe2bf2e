import { curl, quote } from "../../../../magicbyte/ui/page/api/curl.js";
import { Exact } from "../../../../magicbyte/ui/page/api/json.js";
import { actionOf } from "../../../../magicbyte/ui/page/api/actions.js";
import { path } from "../../../../magicbyte/ui/page/api/encode_url.js";
import { equal } from "../generated.js";

const here = { origin: "http://localhost:8081", signedIn: "" };

/** The command with the folder of the tests taken out of the address. @param {any} request @param {any} [options] */
const command = (request, options) =>
  curl(request, { ...here, ...options }).replace(/(localhost:8081).*?(\/(?:subjects|config|topics))/, "$1$2");

Deno.test("a read is one line", () => {
  equal(command({ method: "GET", path: "/subjects" }), "curl http://localhost:8081/subjects");
});

Deno.test("a write has its body and its headers", () => {
  equal(
    command({ method: "PUT", path: path`/config/${"a b"}`, body: { compatibility: "FULL" } }),
    "curl \\\n  -X PUT \\\n  -H 'Content-Type: application/vnd.schemaregistry.v1+json' \\\n" +
      `  --data-binary '{"compatibility":"FULL"}' \\\n  http://localhost:8081/config/a%20b`,
  );
});

Deno.test("a token is a variable of the shell", () => {
  equal(
    command({ method: "GET", path: "/subjects" }, { signedIn: "Bearer" }),
    'curl -H "Authorization: Bearer $TOKEN" http://localhost:8081/subjects',
  );
});

Deno.test("texts are quoted for the shell, and numbers keep their digits", () => {
  equal(quote("it's"), `'it'\\''s'`);
  equal(quote("$HOME `x`"), "'$HOME `x`'");
  const body = { records: [{ value: new Exact("9223372036854775807") }] };
  equal(command({ method: "POST", path: "/topics/t", base: "rest", body }).includes("9223372036854775807"), true);
});

Deno.test("a query is part of the quoted address", () => {
  equal(
    command({ method: "GET", path: "/subjects", query: { deleted: true } }),
    "curl 'http://localhost:8081/subjects?deleted=true'",
  );
});

Deno.test("a refused request names the action and the subject", () => {
  equal(actionOf("POST", "/subjects/a%2Fb/versions"), { action: "register", subject: "a/b" });
  equal(actionOf("DELETE", "/subjects/s/versions/3"), { action: "delete", subject: "s" });
  equal(actionOf("PUT", "/config"), { action: "config", subject: "" });
  equal(actionOf("POST", "/import"), { action: "import", subject: "" });
  equal(actionOf("GET", "/subjects"), { action: "", subject: "" });
});
