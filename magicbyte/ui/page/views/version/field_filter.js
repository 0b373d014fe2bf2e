/** A filter for the fields of a long schema: the browser's own search finds only the rows that are in the document. */

import { setQuery } from "../../state/routes.js";
import { grouped } from "../../text/grouped.js";
import { html } from "../../vendor/ui.js";

/** @import { Row } from "./fields.js" */

/**
 * The rows whose path, type or doc contains the words; ignores case.
 * @param {Row[]} rows
 * @param {string} words
 */
export function filtered(rows, words) {
  const wanted = words.toLowerCase();
  if (!wanted) return rows;
  return rows.filter(({ node }) => `${node.path}\n${node.type}\n${node.doc}`.toLowerCase().includes(wanted));
}

/** @param {{find: string, kept: number, all: number}} props */
export const FieldFilter = ({ find, kept, all }) =>
  html`
    <search class="body row no-print">
      <input class="input" type="search" aria-label="Find fields" placeholder="Name, type or description" value=${find}
        autocomplete="off" spellcheck=${false}
        onInput=${(/** @type {any} */ event) => setQuery({ find: event.currentTarget.value })} />
      <span class="s dim num" role="status">${grouped(kept)} of ${grouped(all)} rows</span>
    </search>
  `;
