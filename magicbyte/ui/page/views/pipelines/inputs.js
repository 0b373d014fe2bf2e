/** The inputs of a pipeline: the lag of each partition, and the end of the last batch in its Kafka sinks. */
import { Card } from "../../parts/cards.js";
import { Shown } from "../../parts/hostile.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { html, useState } from "../../vendor/ui.js";
import { grouped } from "../../text/grouped.js";
import { Scrolled } from "../../parts/scrolled.js";
import { Button } from "../../parts/buttons.js";

/** @typedef {{topic: string, partition: number, behind: number | null, next: number | null}} Input */

const STEP = 100;

/** @param {{pipeline: import("../../api/pipelines.js").Pipeline}} props */
export function Inputs({ pipeline }) {
  const [most, setMost] = useState(STEP);
  const inputs = inputsOf(pipeline);
  if (inputs.length === 0) return null;
  const totals = Object.entries(pipeline.figures?.lagByTopic ?? {});
  return html`
    <${Card} title="Inputs" bare aside=${html`<span class="faint xs num">${
      totals.map(([topic, records], at) =>
        html`${at > 0 && ", "}<${Shown} name text=${topic} />: ${grouped(records)} behind`
      )
    }</span>`}>
      <${Scrolled} label="Inputs">
        <table>
          <thead>
            <tr>
              <th scope="col">Topic</th>
              <th scope="col" class="r">Partition</th>
              <th scope="col" class="r">Behind</th>
              <th scope="col" class="r">Next offset, by the marker</th>
            </tr>
          </thead>
          <tbody>${inputs.slice(0, most).map(({ topic, partition, behind, next }) =>
            html`
              <tr key=${`${topic} ${partition}`}>
                <td class="anywhere"><a class="link mono" href=${href(
                  path`/topics/${topic}`,
                )}><${Shown} name text=${topic} /></a></td>
                <td class="r num">${partition}</td>
                <td class="r num">${behind === null ? "" : grouped(behind)}</td>
                <td class="r num mono">${next === null
                  ? ""
                  : html`<a class="link" href=${
                    href(path`/topics/${topic}/messages`, { partition, offset: next })
                  }>${next}</a>`}</td>
              </tr>
            `
          )}</tbody>
        </table>
      </${Scrolled}>
      ${inputs.length > most && html`
        <p class="more">
          <${Button} onClick=${() => setMost(most + STEP)}>Show ${Math.min(
            STEP,
            inputs.length - most,
          )} more of ${grouped(inputs.length)}</${Button}></p>
      `}
      </${Card}>
  `;
}

/**
 * The partitions of the metrics and of the newest marker, largest lag first.
 * @param {import("../../api/pipelines.js").Pipeline} pipeline
 * @returns {Input[]}
 */
export function inputsOf({ figures, sinks }) {
  /** @type {Map<string, Input>} */
  const inputs = new Map();
  for (const { topic, partition, records } of figures?.partitions ?? []) {
    inputs.set(`${topic} ${partition}`, { topic, partition, behind: records, next: null });
  }
  const newest = [...sinks].sort((a, b) => (b.time ?? 0) - (a.time ?? 0))[0];
  for (const { topic, partition, next } of newest?.inputs ?? []) {
    const key = `${topic} ${partition}`;
    inputs.set(key, { ...(inputs.get(key) ?? { topic, partition, behind: null }), next });
  }
  return [...inputs.values()].sort((a, b) =>
    (b.behind ?? 0) - (a.behind ?? 0) || (a.topic < b.topic ? -1 : a.topic > b.topic ? 1 : a.partition - b.partition)
  );
}
