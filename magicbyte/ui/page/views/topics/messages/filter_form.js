/** The form for a filter of messages, with examples. */
import { Button } from "../../../parts/buttons.js";
import { setQuery } from "../../../state/routes.js";
import { html, useState } from "../../../vendor/ui.js";

/** Examples of filters and their meanings. */
const EXAMPLES = [
  ["late flight", "both words are in the key, the value or a header"],
  ['"late flight"', "these words, one behind the other"],
  [
    "value.customer.id = 7",
    "a field of the value; also != > >= < <= and ~ for a part of a text",
  ],
  ["key = UA", "the whole key"],
  ["key:ua value:late", "a text in the key, and one in the value"],
  [
    "header:trace",
    "a header of this name; header:trace=abc also looks into its value",
  ],
  ["id:7", "the id of the key's or value's schema"],
];

/** @param {{query: Record<string, string>}} props */
export function FilterForm({ query }) {
  const [text, setText] = useState(query.q ?? "");
  const [last, setLast] = useState(query.q ?? "");
  // The Back button changes the URL; take its filter over into the input.
  if ((query.q ?? "") !== last) {
    setLast(query.q ?? "");
    setText(query.q ?? "");
  }
  const go = (/** @type {string} */ value) =>
    setQuery({ q: value.trim(), cursor: null, open: null }, { replace: false });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    go(text);
  };
  return html`
    <form class="row filter-form" role="search" aria-label="Messages"
      onSubmit=${submit}>
      <input class="input mono grow" type="search" aria-label="Filter messages"
        autocomplete="off" spellcheck=${false}
        placeholder="words, or value.customer.id = 7" value=${text}
        onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)} />
      <${Button} type="submit">Search</${Button}>
      ${query.q &&
        html`<${Button} kind="quiet" onClick=${() => go("")}>Clear</${Button}>`}
    </form>
    <details class="filter-help s">
      <summary class="dim">What a filter may have</summary>
      <dl class="facts">${EXAMPLES.map(([example, meaning]) =>
        html`
          <dt key=${example} class="mono">${example}</dt>
          <dd key=${example + "-"} class="dim">${meaning}</dd>
        `
      )}</dl>
      <p class="dim">All parts must hold. Case counts only for names of fields and headers, and for = with a text.</p>
    </details>
  `;
}
