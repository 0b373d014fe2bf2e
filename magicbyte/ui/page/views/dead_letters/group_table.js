/** The groups of letters with their counts. */
import { Shown } from "../../parts/hostile.js";
import { Scrolled } from "../../parts/scrolled.js";
import { Time } from "../../parts/times.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { grouped } from "../../text/grouped.js";
import { html } from "../../vendor/ui.js";
import { groupingOf, placeText } from "./letter_request.js";

/** @typedef {import("../../api/dead_letters.js").Group} Group */

/** The heading of the column of names. @type {Record<string, string>} */
const HEADS = { reason: "Fingerprint", topic: "Topic", "schema-id": "Schema id", pipeline: "Pipeline" };

/** @param {{topic: string, query: Record<string, string>, groups: Group[], hasNotes: boolean}} props */
export function GroupTable({ topic, query, groups, hasNotes }) {
  const { pick: _pick, replay: _replay, ...rest } = query;
  return html`
    <section class="card group-card" aria-label="Groups">
      <${Scrolled} label="Groups">
        <table class="group-table">
          <thead>
            <tr>
              <th scope="col">${HEADS[groupingOf(query)]}</th>
              <th scope="col" class="r">Letters</th>
              <th scope="col" class="r">Repeats</th>
              <th scope="col" class="r">Replayed</th>
              <th scope="col">First</th>
              <th scope="col">Last</th>
              <th scope="col">Stage and reason</th>
            </tr>
          </thead>
          <tbody>${groups.map((group) =>
            html`
              <tr key=${group.name}>
                <td class="mono anywhere"><a class="link" href=${href(path`/dead-letters/${topic}`, {
                  ...rest,
                  group: group.name,
                })}><${Shown} name text=${group.name} /></a></td>
                <td class="r num" data-label="letters">${grouped(group.letters)}</td>
                <td class="r num" data-label="repeats">${group.repeated ? grouped(group.repeated) : ""}</td>
                <td class="r num" data-label="replayed">${hasNotes ? grouped(group.replayed) : "?"}</td>
                <td data-label="first">
                  <${MarkLink} topic=${topic} mark=${group.first} />
                </td>
                <td data-label="last">
                  <${MarkLink} topic=${topic} mark=${group.last} />
                </td>
                <td class="anywhere group-reason">${group.stage && html`
                  <span class="badge line"><${Shown} text=${group.stage} /></span>${" "}
                `}<${Shown} text=${group.reason} /></td>
              </tr>
            `
          )}</tbody>
        </table>
        </${Scrolled}>
        </section>
  `;
}

/** @param {{topic: string, mark: import("../../api/dead_letters.js").Mark}} props */
const MarkLink = ({ topic, mark }) =>
  html`
    <a class="link mono num" href=${href(path`/dead-letters/${topic}/${mark.partition}/${mark.offset}`)}>${placeText(
      mark,
    )}</a> <span
      class="dim xs nowrap"><${Time} ms=${mark.timestamp} /></span>
  `;
