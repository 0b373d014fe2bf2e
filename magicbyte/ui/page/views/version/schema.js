/** The text of a version, pretty or as stored, and the facts beside it. */

import { Segmented } from "../../parts/buttons.js";
import { Card } from "../../parts/cards.js";
import { CopyButton } from "../../parts/copying.js";
import { Icon } from "../../parts/icon.js";
import { Failure, Loading } from "../../parts/states.js";
import { path } from "../../api/encode_url.js";
import { goTo, href, route, setQuery } from "../../state/routes.js";
import { Bridge } from "../../text/positions.js";
import { counted } from "../../text/counted.js";
import { html, useEffect, useMemo } from "../../vendor/ui.js";
import { CodeLines, countOf, hashOf, placeOf, rangeOf } from "../code/code_lines.js";
import { FindBox, useFind } from "../code/find_box.js";
import { useLayouts } from "../code/use_layouts.js";
import { SHORT } from "../code/virtual_list.js";
import { VersionFacts } from "./facts.js";

/** @import { Lines } from "../../text/positions.js" */
/** @import { Layouts } from "../../text/in_worker.js" */
/** @import { SchemaType } from "../../text/pretty.js" */

/** @type {Record<string, string>} */
const SUFFIXES = { AVRO: "avsc", JSON: "schema.json", PROTOBUF: "proto" };

/** @param {{data: any, subject: string, query: Record<string, string>}} props */
export function VersionSchema({ data, subject, query }) {
  const type = /** @type {SchemaType} */ (data.schemaType ?? "AVRO");
  const { layouts, error } = useLayouts(data.schema, type);
  return html`
    <div class="version-columns">
      ${layouts
        ? html`<${TextCard} layouts=${layouts} data=${data} subject=${subject} query=${query} />`
        : error
        ? html`<${Failure} error=${error} />`
        : html`<${Loading} rows=${14} height=${28} />`}
      <${VersionFacts} data=${data} subject=${subject} />
    </div>
  `;
}

/** @param {{layouts: Layouts, data: any, subject: string, query: Record<string, string>}} props */
function TextCard({ layouts, data, subject, query }) {
  const type = layouts.stored.type;
  const { stored, laidOut } = layouts;
  const asIs = query.text === "stored";
  const layout = asIs ? stored : laidOut;
  const bridge = useMemo(() => new Bridge(stored, layout), [stored, layout]);
  const lines = bridge.toLines;
  const selected = selectedOf(route.value.hash, bridge);
  const found = useFind(lines.count > SHORT ? lines : null, query.find ?? "");
  const links = useMemo(() => linksOf(data.references ?? []), [data.references]);
  useEffect(() => {
    if (selected) document.getElementById(`L${selected[0]}`)?.scrollIntoView({ block: "center" });
  }, [layout]);
  /** @param {[number, number]} range */
  const select = (range) => {
    const { path: page, query: shown } = route.peek();
    goTo(href(page, shown, { hash: hashOf(range) }), { replace: true, quiet: true });
  };
  const name = `${subject.replaceAll(/[^\p{L}\p{N}._-]+/gu, "-")}-v${data.version}.${SUFFIXES[type] ?? "txt"}`;
  return html`
    <${Card} bare class="card schema-card" title=${html`<${Heading} lines=${lines} selected=${selected} />`}
      aside=${html`
        ${found && html`<${FindBox} found=${found} search=${(/** @type {string} */ find) => setQuery({ find })} />`}
        ${stored !== laidOut && html`
          <${Segmented} label="Layout" value=${asIs ? "stored" : "pretty"}
            options=${[["pretty", "Pretty"], ["stored", "As stored"]]}
            onChange=${(/** @type {string} */ text) => setQuery({ text: text === "stored" ? text : null })} />
        `}
        <${CopyButton} kind="small" text=${() => selectedText(layout.text, lines, selected)}>
          ${selected ? "Copy lines" : "Copy"}
        </${CopyButton}>
        <${Download} text=${layout.text} name=${name} />
      `}>
      <${CodeLines} layout=${layout} lines=${lines} selected=${selected} select=${select} links=${links}
        found=${found}
        label=${`Text of version ${data.version}`} />
      </${Card}>
  `;
}

/**
 * The selected lines of an address. Maps a position in the stored text to a line of the current layout.
 * @param {string} hash
 * @param {Bridge} bridge
 * @returns {[number, number] | null}
 */
function selectedOf(hash, bridge) {
  const place = placeOf(hash);
  if (!place || place.line > bridge.fromLines.count) return rangeOf(hash);
  const { line } = bridge.carry(place);
  return [line, line];
}

/** @param {{lines: Lines, selected: [number, number] | null}} props */
function Heading({ lines, selected }) {
  const words = counted(countOf(lines), "line");
  if (!selected) return words;
  const [first, last] = selected;
  return html`${words} <span class="faint">${
    first === last ? `line ${first}` : `lines ${first} to ${last}`
  } selected</span>`;
}

/** @param {string} text @param {Lines} lines @param {[number, number] | null} selected */
function selectedText(text, lines, selected) {
  if (!selected) return text;
  const first = Math.min(Math.max(selected[0], 1), lines.count);
  return text.slice(lines.starts[first - 1], lines.lineEnd(Math.min(selected[1], lines.count)));
}

/** Saves the text as a file. @param {{text: string, name: string}} props */
function Download({ text, name }) {
  const save = () => {
    const address = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
    const link = document.createElement("a");
    link.href = address;
    link.download = name;
    link.click();
    URL.revokeObjectURL(address);
  };
  return html`<button type="button" class="btn small" onClick=${save}><${Icon} name="download" />Download</button>`;
}

/**
 * The addresses of the referenced versions, by their names in the text.
 * @param {{name: string, subject: string, version: number}[]} references
 */
function linksOf(references) {
  return new Map(references.map(({ name, subject, version }) => [
    name,
    href(path`/subjects/${subject}/versions/${version}`),
  ]));
}
