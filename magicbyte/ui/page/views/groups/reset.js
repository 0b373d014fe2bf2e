/** Resets a group's offsets: first shows what would change in each partition, then commits it. */
import * as admin from "../../api/admin.js";
import { Button } from "../../parts/buttons.js";
import { Scrolled } from "../../parts/scrolled.js";
import { Card } from "../../parts/cards.js";
import { CurlButton } from "../../parts/copying.js";
import { Shown } from "../../parts/hostile.js";
import { Select } from "../../parts/menus.js";
import { toast } from "../../parts/toasts.js";
import { setQuery } from "../../state/routes.js";
import { grouped } from "../../text/grouped.js";
import { html, useId, useState } from "../../vendor/ui.js";
import { counted } from "../../text/counted.js";
import { Refused } from "../kafka/kafka_rights.js";
import { readPlaces, TARGETS, targetsOf, writePlaces } from "./reset_target.js";

/**
 * @param {{cluster: string, group: string, committed: Map<string, number[]>, query: Record<string, string>,
 *   reason: string, onDone: () => void}} props `committed`: topic -> the partitions with a committed offset; `reason`:
 *   why the user may not reset offsets; empty if allowed
 */
export function ResetCard({ cluster, group, committed, query, reason, onDone }) {
  const { to = "earliest", at = "" } = query;
  const topics = [...committed.keys()].sort();
  const chosen = query.topics ?? topics.join(";");
  const [plan, setPlan] = useState(/** @type {{of: string, resets: admin.Reset[]} | null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const { targets, problem } = targetsOf({ to, at, topics: chosen }, committed);
  const request = admin.resetRequest(cluster, group, targets);
  const shown = plan?.of === JSON.stringify(request) ? plan.resets : null;
  const off = reason || problem;
  /** @param {import("../../api/types.d.ts").Request} asked @param {(resets: admin.Reset[]) => void} then */
  const sent = async (asked, then) => {
    if (off || busy) return;
    setBusy(true);
    try {
      then(admin.resetsIn(await admin.send(asked)));
      setError(null);
    } catch (refusal) {
      setError(refusal);
    } finally {
      setBusy(false);
    }
  };
  const tryOut = () => sent(admin.dry(request), (resets) => setPlan({ of: JSON.stringify(request), resets }));
  const commit = () =>
    sent(request, (resets) => {
      toast(`${counted(resets.length, "offset")} of ${group} ${resets.length === 1 ? "is" : "are"} committed.`);
      setQuery({ reset: null, to: null, at: null, topics: null });
      onDone();
    });
  return html`
    <${Card} title="Reset offsets" aria-label="Reset offsets">
      <div class="stack">
        <div class="row wrap">
          <span class="s">To</span>
          <${Select} label="Reset to" value=${to} options=${TARGETS}
            onChange=${(/** @type {string} */ value) => setQuery({ to: value, at: null })} />
          <${TargetInput} to=${to} at=${at} />
        </div>
        <${PartitionChoice} topics=${topics} chosen=${chosen} />
        <div class="row wrap">
          <${Button} kind=${shown ? "" : "primary"} reason=${off} disabled=${busy}
            onClick=${tryOut}>Show what would change</${Button}>
          <${Button} kind=${shown ? "primary" : ""} reason=${off || (shown ? "" : "First show what would change.")}
            disabled=${busy} onClick=${commit}>Commit these offsets</${Button}>
          <span class="grow"></span>
          <${CurlButton} kind="quiet" request=${request} />
          <${Button} kind="quiet" onClick=${() =>
            setQuery({ reset: null, to: null, at: null, topics: null })}>Close</${Button}>
        </div>
        ${error && html`<${Refused} error=${error} action="reset" />`}
        ${shown && html`<${Plan} resets=${shown} />`}
      </div>
    </${Card}>
  `;
}

/** The input for a target's value; nothing for a target without one. @param {{to: string, at: string}} props */
function TargetInput({ to, at }) {
  if (to === "earliest" || to === "latest") return null;
  const change = (/** @type {any} */ event) => setQuery({ at: event.currentTarget.value });
  if (to === "time") {
    return html`
      <input class="input num reset-at" type="datetime-local" step="1" aria-label="Time" value=${at}
        onChange=${change} />
    `;
  }
  return html`
    <input class="input num reset-at" inputmode="numeric" aria-label=${to === "offset"
      ? "Offset"
      : "Shift by"} placeholder=${to === "offset" ? "0" : "-10"} value=${at}
      autocomplete="off" onInput=${change} />
  `;
}

/** @param {{topics: string[], chosen: string}} props */
function PartitionChoice({ topics, chosen }) {
  const id = useId();
  const [other, setOther] = useState("");
  const places = readPlaces(chosen);
  const all = [...new Set([...topics, ...places.keys()])].sort();
  const set = (/** @type {string} */ topic, /** @type {string | null} */ partitions) => {
    if (partitions === null) places.delete(topic);
    else places.set(topic, partitions);
    setQuery({ topics: writePlaces(places) || ";" });
  };
  const add = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (/^[\w.-]+$/.test(other)) set(other, "");
    setOther("");
  };
  return html`
    <fieldset class="stack reset-places">
      <legend class="s dim">Topics, and their partitions with commas between; all partitions if none is written</legend>
      ${all.map((topic) =>
        html`
          <div class="row wrap" key=${topic}>
            <label class="check"><input type="checkbox" checked=${places.has(topic)}
              onChange=${(/** @type {any} */ event) => set(topic, event.currentTarget.checked ? "" : null)} />
              <span class="mono anywhere"><${Shown} name text=${topic} /></span></label>
            ${places.has(topic) && html`
              <input class="input num reset-partitions" aria-label=${`Partitions of ${topic}`} placeholder="all"
                value=${places.get(topic)} autocomplete="off" inputmode="numeric"
                onInput=${(/** @type {any} */ event) => set(topic, event.currentTarget.value.replace(/[^\d,]/g, ""))} />
            `}
          </div>
        `
      )}
      <form class="row" onSubmit=${add}>
        <label class="hidden-text" for=${id}>Another topic</label>
        <input class="input mono reset-topic" id=${id} placeholder="Another topic" value=${other} autocomplete="off"
          spellcheck=${false} onInput=${(/** @type {any} */ event) => setOther(event.currentTarget.value)} />
        <${Button} kind="small" type="submit" disabled=${!/^[\w.-]+$/.test(other)}>Add</${Button}>
      </form>
    </fieldset>
  `;
}

/** @param {{resets: admin.Reset[]}} props */
function Plan({ resets }) {
  const sum = (/** @type {"skipped" | "repeated"} */ name) =>
    resets.reduce((all, reset) => all + (reset[name] ?? 0), 0);
  const changed = resets.filter(({ from, to }) => from !== to).length;
  return html`
    <p class="s" role="status">${counted(changed, "offset")} of ${resets.length} would change: ${counted(
      sum("skipped"),
      "record",
    )} skipped, ${counted(sum("repeated"), "record")} repeated.</p>
    <${Scrolled} label="What would change">
      <table class="plan-table">
        <thead>
          <tr>
            <th scope="col">Topic</th>
            <th scope="col" class="r">Partition</th>
            <th scope="col" class="r">From</th>
            <th scope="col" class="r">To</th>
            <th scope="col">What that means</th>
          </tr>
        </thead>
        <tbody>${resets.map((reset) =>
          html`
            <tr key=${`${reset.topic} ${reset.partition}`}>
              <td class="mono anywhere">
                <${Shown} name text=${reset.topic} />
              </td>
              <td class="r num">${reset.partition}</td>
              <td class="r num mono">${reset.from ?? html`<span class="faint">none</span>`}</td>
              <td class="r num mono">${reset.to}</td>
              <td class="s">${effectOf(reset)}</td>
            </tr>
          `
        )}</tbody>
      </table>
      </${Scrolled}>
  `;
}

/** Describes the effect of a reset on one partition. @param {admin.Reset} reset */
export function effectOf({ from, to, wanted, end, skipped, repeated }) {
  const moved = wanted === to
    ? ""
    : wanted < to
    ? ` The first record is at ${to}, after ${wanted}.`
    : ` The end is ${to}, before ${wanted}.`;
  if (from === null) {
    return `Nothing is committed now.${
      end === null ? "" : ` ${counted(Math.max(0, end - to), "record")} to read.`
    }${moved}`;
  }
  if (skipped) return `${grouped(skipped)} skipped.${moved}`;
  if (repeated) return `${grouped(repeated)} repeated.${moved}`;
  return (from === to ? "No change." : "No record is skipped or repeated.") + moved;
}
