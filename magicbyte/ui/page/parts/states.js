/** Placeholders for content: loading, failed, empty. */
import { gapOf } from "../api/fact.js";
import { PATH_CHANGED } from "../api/slashes.js";
import { GAP_HEADS } from "../text/phrases.js";
import { html, useEffect, useState } from "../vendor/ui.js";
import { Button } from "./buttons.js";

/**
 * Grey rows of the final height, invisible for the first 150 ms.
 * @param {{rows?: number, height?: number}} props
 */
export function Skeleton({ rows = 6, height = 38 }) {
  const shown = useLater(150);
  return html`<div class="skeleton" style=${{
    "--height": height + "px",
    visibility: shown ? "visible" : "hidden",
  }} aria-hidden="true">
    ${Array.from({ length: rows }, (_, i) => html`<i key=${i}></i>`)}
  </div>`;
}

/**
 * Grey rows while a request runs; after 5 s a line that says so, with Cancel.
 * @param {{rows?: number, height?: number, onCancel?: () => void}} props
 */
export function Loading({ rows, height, onCancel }) {
  const late = useLater(5000);
  return html`<div aria-busy="true">
    ${
    late &&
    html`<div class="still" role="status">Still asking. ${
      onCancel && html`<${Button} kind="small" onClick=${onCancel}>Cancel</${Button}>`
    }</div>`
  }
    <${Skeleton} rows=${rows} height=${height} />
  </div>`;
}

/** True after `ms`. @param {number} ms */
function useLater(ms) {
  const [passed, setPassed] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setPassed(true), ms);
    return () => clearTimeout(timer);
  }, []);
  return passed;
}

/** The title of a failure by status. @type {Record<number, string>} */
const HEADS = {
  0: "No answer",
  [PATH_CHANGED]: "The address is changed on its way",
  401: "Not signed in",
  403: "Not allowed",
  404: GAP_HEADS.absent,
  409: "Not compatible",
  412: "Changed meanwhile",
  422: "Refused",
  429: "Too many requests",
};

/**
 * An error in the server's words, with the request's id and a way to continue.
 * @param {{error: any, again?: () => void, children?: any}} props `children`: other ways to continue
 */
export function Failure({ error, again, children }) {
  const status = error?.status ?? -1;
  const head = gapOf(error) === "costly"
    ? GAP_HEADS.costly
    : HEADS[status] ?? (status >= 500 ? "The server failed" : "Something went wrong");
  return html`<div class="state" role="alert" data-failure=${status}>
    <h2>${head}</h2>
    <p>${error?.message ?? String(error)}</p>
    ${
    error?.requestId &&
    html`<p class="xs faint mono">request ${error.requestId}${error.code ? `, code ${error.code}` : ""}</p>`
  }
    ${
    (again || children) &&
    html`<div class="row">${again && html`<${Button} onClick=${again}>Ask again</${Button}>`}${children}</div>`
  }
  </div>`;
}

/** An empty state: the reason and the next step. @param {{title: any, children?: any, actions?: any}} props */
export const Empty = ({ title, children, actions }) =>
  html`<div class="state"><h2>${title}</h2>${children}${actions && html`<div class="row">${actions}</div>`}</div>`;

/** Says that a view needs our registry. */
export const NotServed = () =>
  html`
    <${Empty} title="This registry does not have this view">
      <p>The view needs a route that only Magicbyte's registry has. Texts, differences and verdicts are shown.</p>
      </${Empty}>
  `;

/**
 * The data of a request. The last data stays visible while the request runs again or fails.
 * @param {{request: import("./use_request.js").RequestState<any>, rows?: number, height?: number, children: (data: any) => any}} props
 */
export function Loaded({ request, rows, height, children }) {
  const { data, error, loading, reload, cancel } = request;
  if (data !== undefined) return children(data);
  if (error) return html`<${Failure} error=${error} again=${reload} />`;
  return loading ? html`<${Loading} rows=${rows} height=${height} onCancel=${cancel} />` : null;
}
