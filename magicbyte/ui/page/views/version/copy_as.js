/** The menu Copy as: the request as curl, and short programs. */

import { curl } from "../../api/curl.js";
import { address } from "../../api/client.js";
import { useKeys } from "../../parts/keyboard.js";
import { copy } from "../../parts/copying.js";
import { Menu } from "../../parts/menus.js";
import { path } from "../../api/encode_url.js";
import { html } from "../../vendor/ui.js";
import { SNIPPETS, topicOf } from "./snippets.js";

/** @param {{subject: string, data: {version: number, id: number, schemaType?: string}}} props */
export function CopyAs({ subject, data }) {
  const { version, id, schemaType: type = "AVRO" } = data;
  const request = { method: "GET", path: path`/subjects/${subject}/versions/${version}` };
  const facts = () => ({
    registry: location.origin + address("", {}),
    subject,
    topic: topicOf(subject),
    version,
    id,
    type,
  });
  const copyCurl = () => copy(curl(request), "curl command copied");
  useKeys({ c: ["copy as curl", copyCurl] });
  const items = [
    { label: "curl", onClick: copyCurl },
    ...SNIPPETS.map(([name, write]) => ({ label: name, onClick: () => copy(write(facts()), `${name} copied`) })),
  ];
  return html`<${Menu} label="Copy as" items=${items} />`;
}
