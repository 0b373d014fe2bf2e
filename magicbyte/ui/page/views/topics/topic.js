/** A topic: its number of records, the subjects of its keys and values, other schemas of its records, partitions. */
import { cellFact, gapFact } from "../../api/fact.js";
import { hasOverview } from "../../api/features.js";
import { topicFacts } from "../../api/admin.js";
import * as rest from "../../api/rest.js";
import { LevelBadge, listedOrigin, TypeBadge } from "../../parts/badges.js";
import { LinkButton } from "../../parts/buttons.js";
import { Card } from "../../parts/cards.js";
import { GapBadge, GapWords, visibly } from "../../parts/gap.js";
import { Shown } from "../../parts/hostile.js";
import { useRequest } from "../../parts/use_request.js";
import * as registry from "../../api/registry.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { listingError } from "../../state/live_listing.js";
import { config, context, may } from "../../state/signals.js";
import { html } from "../../vendor/ui.js";
import { BrokerStrip, FromBroker, NoProxy, useBroker } from "../kafka/broker.js";
import { counted } from "../../text/counted.js";
import { TopicHead } from "./topic_head.js";
import { SchemasInUse } from "./schemas_in_use.js";
import { missingRight } from "../kafka/kafka_rights.js";
import { PARTS, useSubjects } from "../kafka/topic_subjects.js";
import { grouped } from "../../text/grouped.js";
import { recordName } from "../../text/record_name.js";

/** @param {import("../../state/types.d.ts").ViewProps} props */
export default function TopicPage({ params: { topic } }) {
  const request = useBroker((signal) => partitionsAndFacts(topic, signal), [topic]);
  const subjects = useSubjects();
  const facts = request.data?.facts;
  const actions = html`<${LinkButton} href=${href(path`/topics/${topic}/messages`)} reason=${
    missingRight("read", facts?.operations)
  }>Messages</${LinkButton}>
    <${LinkButton} kind="primary" href=${href(path`/topics/${topic}/produce`)} reason=${
    missingRight("produce", facts?.operations)
  }>Produce</${LinkButton}>`;
  return html`
    <${TopicHead} topic=${topic} tab="topic" partitions=${request.data
      ?.partitions} actions=${config.value.restAvailable &&
      actions} />
    <${BrokerStrip} request=${request} />
    <div class="page topic">
          <div class="two">${PARTS.map((part) =>
            html`<${PartCard} key=${part} topic=${topic} part=${part} facts=${
              subjects?.get(`${topic}-${part}`)
            } ready=${Boolean(subjects)} />`
          )}</div>
          ${config.value.restAvailable
            ? html`<${FromBroker} request=${request} rows=${6}>${(
              /** @type {{partitions: rest.Partition[]}} */ { partitions },
            ) =>
              html`
                <${SchemasInUse} topic=${topic} partitions=${partitions} subjects=${subjects} />
                <${Partitions} topic=${topic} partitions=${partitions} />
              `}</${FromBroker}>`
            : html`<${NoProxy} topic=${topic} />`}
        </div>
  `;
}

/**
 * A topic's partitions and its facts from the proxy. Our proxy returns both in one answer.
 * @param {string} topic
 * @param {AbortSignal} signal
 */
async function partitionsAndFacts(topic, signal) {
  const facts = await topicFacts(topic, { signal, offsets: true }).catch((error) => {
    // Continue without the facts: the offsets matter more, and other proxies return them without version 3.
    if (error.status === 403 || error.status === 404) return null;
    throw error;
  });
  return { facts, partitions: facts?.bounds ?? await rest.partitions(topic, { signal }) };
}

/** @param {{topic: string, part: "key" | "value", facts?: import("../../state/types.d.ts").Facts, ready: boolean}} props */
function PartCard({ topic, part, facts, ready }) {
  const subject = `${topic}-${part}`;
  const title = part === "key" ? "Key" : "Value";
  const request = useRequest(
    facts ? (signal) => registry.version(subject, facts.version ?? "latest", { signal }) : null,
    [subject, Boolean(facts), facts?.version],
  );
  const version = facts?.version ?? request.data?.version;
  const type = facts?.type ?? (request.data && (request.data.schemaType ?? "AVRO"));
  if (!facts) {
    return html`<${Card} title=${title}>${
      !ready ? listingError.value && html`<${GapWords} fact=${gapFact(listingError.value)} />` : html`
        <div class="row wrap">
          <span class="dim s grow">No subject <span class="mono"><${Shown} name text=${subject} /></span>${visibly()}</span>
          <${LinkButton} href=${href("/new", { topic, part })} reason=${may("register", subject).reason}
            aria-label=${`Set a schema for the ${part}s`}>Set a schema</${LinkButton}></div>
      `
    }</${Card}>`;
  }
  const name = request.data && recordName(request.data.schema, request.data.schemaType ?? "AVRO");
  const aside = version > 1 &&
    html`<a class="link s num" href=${href(path`/subjects/${subject}/compare`)}>compare ${
      version - 1
    } to ${version}</a>`;
  return html`
    <${Card} title=${title} aside=${aside}>
      <div class="row wrap part-facts">
          <a class="mono link anywhere" href=${href(
            path`/subjects/${subject}/versions/${version ?? "latest"}`,
          )}><${Shown} name text=${subject} /></a>
          ${version && html`<span class="num">v${version}</span>`}
          ${type && html`<${TypeBadge} type=${type} />`}
          ${name && html`<span class="mono dim s anywhere"><${Shown} text=${name} /></span>`}
          ${request.error && html`<${GapBadge} fact=${gapFact(request.error)} name="schema" />`}
          ${facts.level && html`<${LevelBadge} level=${facts.level} origin=${listedOrigin(facts, context.value)} />`}
          ${hasOverview() && html`<${GapBadge} fact=${cellFact(facts.level)} name="level" />`}
          <span class="grow"></span>
          <${LinkButton} kind="small" href=${href(path`/subjects/${subject}/edit`)} reason=${may("register", subject)
            .reason}
            aria-label=${`Edit the schema of the ${part}s`}>Edit</${LinkButton}>
        </div>
      </${Card}>
  `;
}

/** @param {{topic: string, partitions: rest.Partition[]}} props */
const Partitions = ({ topic, partitions }) =>
  html`
    <${Card} title="Partitions" bare aside=${html`<span class="faint xs num">${
      counted(partitions.length, "partition")
    }</span>`}>
      <div class="table-scroll">
        <table class="partition-table">
          <thead>
            <tr>
              <th scope="col">Partition</th>
              <th scope="col" class="r">First offset</th>
              <th scope="col" class="r">Next offset</th>
              <th scope="col" class="r">Records</th>
              <th scope="col"><span class="hidden-text">Messages</span></th>
            </tr>
          </thead>
          <tbody>${partitions.map(({ partition, first, end }) =>
            html`
              <tr key=${partition}>
                <td class="num">${partition}</td>
                <td class="r num mono">${first}</td>
                <td class="r num mono">${end}</td>
                <td class="r num">${grouped(Math.max(0, end - first))}</td>
                <td class="r"><a class="link" href=${href(path`/topics/${topic}/messages`, {
                  partition,
                })} aria-label=${`Messages of partition ${partition}`}>Messages</a></td>
              </tr>
            `
          )}</tbody>
        </table>
      </div>
      </${Card}>
  `;
