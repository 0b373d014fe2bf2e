/** Topics: each with the subjects of its keys and values; topics without a subject and subjects without a topic. */
import { gapFact } from "../../api/fact.js";
import * as rest from "../../api/rest.js";
import { TypeBadge } from "../../parts/badges.js";
import { Button, Chip, LinkButton } from "../../parts/buttons.js";
import { GapWords, visibly } from "../../parts/gap.js";
import { Shown } from "../../parts/hostile.js";
import { Icon } from "../../parts/icon.js";
import { Empty } from "../../parts/states.js";
import { useRights } from "../../parts/use_rights.js";
import { path } from "../../api/encode_url.js";
import { href, setQuery } from "../../state/routes.js";
import { listingError } from "../../state/live_listing.js";
import { MARKERS, pipelinesSeen } from "../../state/pipelines_seen.js";
import { config, may } from "../../state/signals.js";
import { html, useEffect, useMemo, useState } from "../../vendor/ui.js";
import { BrokerStrip, FromBroker, NoProxy, useBroker } from "../kafka/broker.js";
import { missingRight } from "../kafka/kafka_rights.js";
import { KafkaHead } from "../kafka/kafka_head.js";
import { PARTS, topicOf, useSubjects } from "../kafka/topic_subjects.js";
import { grouped } from "../../text/grouped.js";

/** @typedef {import("../../state/types.d.ts").Facts} Facts */
/**
 * @typedef {{topic: string, partitions: number | null, there: boolean, operations?: string[] | null, key?: Facts,
 *   value?: Facts}} Row
 */

const STEP = 300;

/** @param {import("../../state/types.d.ts").ViewProps} props */
export default function TopicsPage({ query }) {
  useRights();
  const request = useBroker((signal) => rest.topics({ signal }), ["topics"]);
  useEffect(() => {
    if (request.data?.some((/** @type {rest.Topic} */ { name }) => name === MARKERS)) pipelinesSeen.value = true;
  }, [request.data]);
  return html`
    <${BrokerStrip} request=${request} />
    <div class="page topics">
      <${KafkaHead} at="/topics" aside=${request.data && `${grouped(request.data.length)}${visibly()}`}>
            ${config.value.restAvailable && html`
              <${LinkButton} kind="primary" href=${href("/new-topic")} reason=${may("topics")
                .reason}>New topic</${LinkButton}>
            `}
          </${KafkaHead}>
          ${config.value.restAvailable
            ? html`<${FromBroker} request=${request} rows=${10}>${(/** @type {rest.Topic[]} */ topics) =>
              html`<${TopicList} topics=${topics} query=${query} />`}</${FromBroker}>`
            : html`<${NoProxy} />`}
        </div>
  `;
}

/** @param {{topics: rest.Topic[], query: Record<string, string>}} props */
function TopicList({ topics, query }) {
  const subjects = useSubjects();
  const [most, setMost] = useState(STEP);
  const { q = "", show = "", internal = "" } = query;
  const rows = useMemo(() => rowsOf(topics, subjects), [topics, subjects]);
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const named = rows.filter(({ topic }) => words.every((word) => topic.toLowerCase().includes(word)));
  const internals = new Set(topics.filter((topic) => topic.internal).map(({ name }) => name));
  const usual = named.filter(({ topic }) => internal || !internals.has(topic));
  const bare = usual.filter(({ there, key, value }) => there && !key && !value);
  const lost = usual.filter(({ there }) => !there);
  const shown = show === "bare" ? bare : show === "lost" ? lost : usual.filter(({ there }) => there);
  const toggle = (/** @type {string} */ name) => () => setQuery({ show: show === name ? null : name });
  return html`
    <div class="box">
      <${Icon} name="search" />
      <input type="search" aria-label="Filter topics" placeholder="Topic" value=${q} autocomplete="off"
        spellcheck=${false}
        onInput=${(/** @type {any} */ event) => setQuery({ q: event.currentTarget.value })} />
    </div>
    <div class="chips topic-chips">
      <${Chip} pressed=${show === "bare"} count=${subjects && bare.length}
        onClick=${toggle(
          "bare",
        )}>Topics without a subject${visibly()}</${Chip}>
          <${Chip} pressed=${show === "lost"} count=${subjects && lost.length} onClick=${toggle(
            "lost",
          )}>Subjects without a topic</${Chip}>
          ${internals.size > 0 &&
            html`<${Chip} pressed=${Boolean(internal)} count=${internals.size} onClick=${() =>
              setQuery({ internal: internal ? null : true })}>Internal</${Chip}>`}
        </div>
        ${shown.length === 0
          ? html`<${NoTopics} q=${q} show=${show} any=${topics.length > 0} />`
          : html`<${Table} rows=${shown.slice(0, most)} ready=${Boolean(subjects)} />`}
        ${shown.length > most && html`
          <p class="more">
            <${Button} onClick=${() => setMost(most + STEP)}>Show ${Math.min(
              STEP,
              shown.length - most,
            )} more of ${grouped(
              shown
                .length,
            )}</${Button}></p>
        `}
  `;
}

/** @param {{q: string, show: string, any: boolean}} props */
function NoTopics({ q, show, any }) {
  const all = html`<${Button} onClick=${() => setQuery({ q: null, show: null })}>Show all topics</${Button}>`;
  if (q) return html`<${Empty} title=${html`No topic has “${q}” in its name`} actions=${all} />`;
  if (show === "bare") return html`<${Empty} title="Every topic has a subject" actions=${all} />`;
  if (show === "lost") return html`<${Empty} title="Every subject that is named for a topic has one" actions=${all} />`;
  return html`
    <${Empty} title=${any ? "Only internal topics" : "The broker lists no topic"}>
      <p>A topic appears here as soon as somebody writes to it${any
        ? "; internal topics are hidden"
        : ", if the broker lets you see it"}.</p>
      </${Empty}>
  `;
}

/** @param {{rows: Row[], ready: boolean}} props */
const Table = ({ rows, ready }) =>
  html`
    <div class="table-scroll">
      <table class="topic-table">
        <thead>
          <tr>
            <th scope="col">Topic</th>
            <th scope="col" class="r">Partitions</th>
            <th scope="col">Key</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>${rows.map(({ topic, partitions, there, operations, ...facts }) =>
          html`<tr key=${topic}>
      <td class="mono anywhere">${
            there
              ? html`<a class="name" href=${href(path`/topics/${topic}`)}><${Shown} name text=${topic} /></a>${
                missingRight("read", operations) && html`
                  ${" "}<span class="badge line aside">you may not read it</span>
                `
              }`
              : html`
                <span class="dim"><${Shown} name text=${topic} /></span> <span
                  class="badge warn">not among the broker's topics</span>
              `
          }</td>
      <td class="r num s">${partitions ?? html`<span class="faint">${there ? "" : "0"}</span>`}</td>
      ${
            PARTS.map((part) =>
              html`
                <td key=${part}>
                  <${SubjectCell} topic=${topic} part=${part} facts=${facts[part]} ready=${ready} there=${there} />
                </td>
              `
            )
          }
    </tr>`
        )}</tbody>
      </table>
    </div>
  `;

/** @param {{topic: string, part: "key" | "value", facts?: Facts, ready: boolean, there: boolean}} props */
function SubjectCell({ topic, part, facts, ready, there }) {
  if (!ready) return listingError.value && html`<${GapWords} fact=${gapFact(listingError.value)} />`;
  const subject = `${topic}-${part}`;
  if (!facts) {
    if (!there) return html`<span class="faint">none</span>`;
    return html`<span class="row"><span class="faint">no subject${visibly()}</span>
      <${LinkButton} kind="quiet small" href=${href("/new", { topic, part })} reason=${may("register", subject).reason}
        aria-label=${`Set a schema for the ${part}s of ${topic}`}>Set a schema</${LinkButton}></span>`;
  }
  return html`<a class="row subject-cell" href=${
    href(path`/subjects/${subject}/versions/${facts.version ?? "latest"}`)
  }>
    ${
    facts.type && html`<${TypeBadge} type=${facts.type} />`
  }<span class="mono cut ends"><${Shown} name text=${subject} /></span>
    ${facts.version && html`<span class="dim num">v${facts.version}</span>`}</a>`;
}

/**
 * The rows, sorted by name: one for each topic, and one for each missing topic that a subject is named for.
 * @param {rest.Topic[]} topics
 * @param {Map<string, Facts> | undefined} subjects
 * @returns {Row[]}
 */
function rowsOf(topics, subjects) {
  /** @type {Map<string, Row>} */
  const rows = new Map(topics.map(({ name, partitions, operations }) => [
    name,
    { topic: name, partitions, there: true, operations },
  ]));
  for (const [subject, facts] of subjects ?? []) {
    const named = topicOf(subject);
    if (!named) continue;
    const row = rows.get(named.topic) ?? { topic: named.topic, partitions: null, there: false };
    row[named.part] = facts;
    rows.set(named.topic, row);
  }
  return [...rows.values()].sort((a, b) => a.topic < b.topic ? -1 : 1);
}
