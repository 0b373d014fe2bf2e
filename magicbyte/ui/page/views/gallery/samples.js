/** The samples of the gallery. */
import { ApiError } from "../../api/client.js";
import { Badge, LevelBadge, TypeBadge, VerdictBadge } from "../../parts/badges.js";
import { Button, Chip, LinkButton, Segmented } from "../../parts/buttons.js";
import { Card, Fold, Note, VerdictCard } from "../../parts/cards.js";
import { CodeText } from "../../parts/code_text.js";
import { Snippet } from "../../parts/copying.js";
import { Shown } from "../../parts/hostile.js";
import { Icon } from "../../parts/icon.js";
import { Menu, Select } from "../../parts/menus.js";
import { Empty, Failure, Skeleton } from "../../parts/states.js";
import { Id } from "../../parts/times.js";
import { toast } from "../../parts/toasts.js";
import { html, useState } from "../../vendor/ui.js";

const nothing = () => {};

export const Badges = () =>
  html`
    <div class="row wrap">
      <${TypeBadge} type="AVRO" />
      <${TypeBadge} type="JSON" />
      <${TypeBadge} type="PROTOBUF" />
      <${VerdictBadge} ok=${true} text="both ways" />
      <${VerdictBadge} ok=${false} text="old readers" />
      <${LevelBadge} level="BACKWARD" origin="global" />
      <${LevelBadge} level="FULL" origin="subject" />
      <${Badge}
        tone="warn">READONLY</${Badge}><${Badge} tone="line">3 versions</${Badge}><${Badge}>plain</${Badge}>
        <${Id} id=${9412} /><${Id} id=${3} href="#id" />
        <span>a<${Shown} text=${"\u202Eevil\u200B"} />z</span>
      </div>
  `;

export const Controls = () => {
  const [view, setView] = useState("Split");
  return html`
    <div class="row wrap">
      <${Button}
        kind="primary">Register version 4</${Button}><${Button}>Copy as curl</${Button}><${Button} kind="danger">Purge</${Button}>
          <${Button} kind="quiet">Cancel</${Button}><${Button} kind="small">Small</${Button}><${Button} disabled>Off</${Button}>
          <${Button} reason="Mode READONLY refuses writes.">Off, with a reason</${Button}><${LinkButton} href="#link">A link</${LinkButton}>
          <${Button} kind="icon" label="Swap"><${Icon} name="swap" /></${Button}>
          <${Button} onClick=${() =>
            toast("flights-value deleted", { action: { label: "Undo", onClick: nothing } })}>Toast</${Button}>
        </div>
        <div class="row wrap">
          <${Chip} pressed=${true} onClick=${nothing}>In names</${Chip}><${Chip} pressed=${false} count=${37} onClick=${nothing}>In fields</${Chip}>
          <${Segmented} label="View" options=${["Split", "Unified"]} value=${view} onChange=${setView} />
          <${Select} label="Version" value="1" options=${[["1", "Version 1"], [
            "2",
            "Version 2",
          ]]} onChange=${nothing} />
          <${Select} mono label="Level" value="BACKWARD" options=${["BACKWARD", "FULL"]} onChange=${nothing} />
          <${Menu} label="Export" items=${[{ label: "Everything", onClick: nothing }, "-", {
            label: "These",
            reason: "Nothing is selected.",
          }]} />
          <kbd>Esc</kbd><kbd>Ctrl K</kbd>
        </div>
  `;
};

export const Inputs = () =>
  html`
    <div class="gallery-inputs">
      <div
        class="field"><label for="sample-name">Subject</label><input class="input mono" id="sample-name" value="orders-value" /></div>
      <div
        class="field"><label for="sample-bad">Topic</label><input class="input mono" id="sample-bad" aria-invalid="true" value="a b" /></div>
      <label class="check"><input type="checkbox" checked /> Normalize</label>
      <div
        class="box"><${Icon} name="search" size=${15} /><input aria-label="Sample search" placeholder="Subject, field, id or guid" /><kbd>/</kbd></div>
      <div
        class="field"><label for="sample-area">Text</label><textarea class="area" id="sample-area">{"type": "string"}</textarea></div>
    </div>
  `;

export const Cards = () =>
  html`
    <div class="gallery-cards">
      <${VerdictCard} ok=${true} title="Version 3 reads what version 1 wrote"
        reason="Backward holds. Upgrade readers first: two new fields have defaults." />
      <${VerdictCard} ok=${false} title="Version 1 cannot read what version 3 writes"
        reason="Forward breaks at one place. BACKWARD allows it; readers still on version 1 stop." />
      <${VerdictCard} ok=${null} title="Not compared yet" reason="The registry is asked." />
      <${Card} title="3 changes" aside=${html`<span class="s dim">18 fields as they were</span>`}
        footer="The outlined cell is what BACKWARD asks for.">Content of a card</${Card}>
        </div>
        <${Note} who="Breaks readers with version 1, on data written with version 3" rule="TYPE_MISMATCH /fields/6/type" remedy="Keep INT, or write a type that promotes to it."
          actions=${html`<${Button} kind="small">Add alias "dest"</${Button}><span class="s">dest went, destination came: renamed?</span>`}>
          The old schema has <b>INT</b> where the new schema has <b>LONG</b>.
        </${Note}>
        <${Note} tone="warn" who="May break">Some data may not be read.</${Note}>
        <${Note} tone="ok" who="Imported">13 lines written.</${Note}>
  `;

/** @param {string} kind @param {string} text */
const token = (kind, text) => ({ kind, text });

export const Codes = () =>
  html`
    <${Card} bare>
      <${CodeText} label="A sample" anchor="" lines=${[
        {
          number: 31,
          tokens: [
            token("p", "  {"),
            token("k", '"name"'),
            token("p", ": "),
            token("st", '"distance"'),
            token("p", ","),
          ],
        },
        {
          number: 32,
          tone: "del",
          sign: "-",
          tokens: [token("k", '  "type"'), token("p", ": "), html`<mark class="st">"int"</mark>`],
        },
        {
          number: 32,
          tone: "add",
          sign: "+",
          tokens: [token("k", '  "type"'), token("p", ": "), html`<mark class="st">"long"</mark>`],
        },
        {
          number: 33,
          tokens: [
            token("k", '  "default"'),
            token("p", ": "),
            token("kw", "null"),
            token("p", ", "),
            token("nu", "12"),
          ],
        },
      ]} />
      <${Fold} label="83 lines as they were" open=${false} onToggle=${nothing} />
      </${Card}>
  `;

export const States = () =>
  html`
    <${Skeleton} rows=${3} />
    <${Failure} error=${new ApiError({
      status: 500,
      code: 50001,
      message: "Error in the backend datastore",
      requestId: "a1b2",
    })} again=${nothing} />
    <${Empty} title="Nothing has refund in its name" actions=${html`<${Button}>In fields <b>37</b></${Button}>`} />
    <${Snippet} text="curl http://127.0.0.1:8081/subjects" />
  `;
