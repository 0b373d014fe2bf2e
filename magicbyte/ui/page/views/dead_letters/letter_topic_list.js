/** The topics that look like topics of dead letters, and an input for the name of another topic. */
import * as rest from "../../api/rest.js";
import { Button } from "../../parts/buttons.js";
import { visibly } from "../../parts/gap.js";
import { Shown } from "../../parts/hostile.js";
import { Empty } from "../../parts/states.js";
import { path } from "../../api/encode_url.js";
import { go, href } from "../../state/routes.js";
import { config } from "../../state/signals.js";
import { html, useState } from "../../vendor/ui.js";
import { BrokerStrip, FromBroker, NoProxy, useBroker } from "../kafka/broker.js";
import { KafkaHead } from "../kafka/kafka_head.js";
import { letterTopics } from "../kafka/letter_topics.js";

/** @param {import("../../state/types.d.ts").ViewProps} _props */
export default function DeadLettersPage(_props) {
  const request = useBroker((signal) => rest.topics({ signal }), ["topics"]);
  return html`
    <${BrokerStrip} request=${request} />
    <div class="page dead-letters">
      <${KafkaHead} at="/dead-letters" />
      ${config.value.restAvailable
        ? html`
          <${TopicNameForm} />
          <${FromBroker} request=${request} rows=${4}>${(/** @type {rest.Topic[]} */ topics) =>
            html`<${LetterTopicList} names=${letterTopics(topics.map(({ name }) => name))} />`}</${FromBroker}>
        `
        : html`<${NoProxy} />`}
    </div>
  `;
}

/** An input for the name of a topic. */
function TopicNameForm() {
  const [name, setName] = useState("");
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (name.trim()) go(path`/dead-letters/${name.trim()}`);
  };
  return html`
    <form class="row other-topic" onSubmit=${submit}>
      <input class="input mono grow" aria-label="Topic of dead letters" placeholder="Topic" autocomplete="off"
        spellcheck=${false} value=${name}
        onInput=${(/** @type {any} */ event) => setName(event.currentTarget.value)} />
      <${Button} type="submit">Open</${Button}>
    </form>
  `;
}

/** @param {{names: string[]}} props */
function LetterTopicList({ names }) {
  if (!names.length) {
    return html`
      <${Empty} title=${html`No topic looks like dead letters${visibly()}`}>
        <p>Names with <span class="mono">dead</span>, <span class="mono">dlq</span>, <span class="mono">dlt</span> or <span
            class="mono">errors</span> are listed here, and topics that have been replayed. Any other can be opened by its name.</p>
        </${Empty}>
    `;
  }
  return html`
    <ul class="card letter-topics">${names.map((name) =>
      html`<li key=${name}><a class="mono link anywhere" href=${
        href(path`/dead-letters/${name}`)
      }><${Shown} name text=${name} /></a></li>`
    )}</ul>
  `;
}
