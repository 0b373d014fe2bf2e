/**
 * Requests to the broker through the REST proxy. While the broker is unreachable, they are retried and the last data
 * stays visible.
 */
import { Button, LinkButton } from "../../parts/buttons.js";
import { Snippet } from "../../parts/copying.js";
import { Failure, Loading } from "../../parts/states.js";
import { useRequest } from "../../parts/use_request.js";
import { href } from "../../state/routes.js";
import { config } from "../../state/signals.js";
import { html, useEffect, useRef, useState } from "../../vendor/ui.js";

/** @typedef {import("../../parts/use_request.js").RequestState<any> & {retryAt: number}} BrokerRequest */

const LONGEST_WAIT = 30;

/**
 * As `useRequest`, but retries after 1, 2, 4 .. 30 s while the broker does not answer.
 * @param {((signal: AbortSignal) => Promise<any>) | null} ask
 * @param {readonly any[]} inputs
 * @returns {BrokerRequest}
 */
export function useBroker(ask, inputs) {
  const request = useRequest(config.value.restAvailable ? ask : null, [...inputs, config.value.restAvailable]);
  const wait = useRef(0);
  const [retryAt, setRetryAt] = useState(0);
  const { error, data, loading, reload } = request;
  const lost = Boolean(error) && isGone(error);
  useEffect(() => {
    if (loading) return;
    if (!lost) {
      wait.current = 0;
      return;
    }
    wait.current = Math.min(LONGEST_WAIT, wait.current * 2 || 1);
    setRetryAt(Date.now() + wait.current * 1000);
    const timer = setTimeout(reload, wait.current * 1000);
    return () => clearTimeout(timer);
  }, [lost, loading, data]);
  return { ...request, retryAt };
}

/** Whether an error means that the proxy or its broker does not answer. @param {any} error */
const isGone = (error) => error.status === 0 || error.status >= 500;

/** The strip that is shown while the broker is unreachable. @param {{request: BrokerRequest}} props */
export function BrokerStrip({ request }) {
  const { error, loading, reload, retryAt } = request;
  const [, tick] = useState(0);
  const shown = Boolean(error) && isGone(error);
  useEffect(() => {
    if (!shown) return;
    const timer = setInterval(() => tick((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, [shown]);
  if (!shown) return null;
  const left = Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
  return html`<div class="strip" role="status">
    <span class="anywhere">The broker cannot be read: ${error.message}${
    request.data ? " What is shown was read before." : ""
  }</span>
    ${error.requestId && html`<span class="xs mono">request ${error.requestId}</span>`}
    <span class="num">${loading ? "Asking again." : `Again in ${left} s.`}</span>
    <${Button} kind="small" onClick=${reload}>Ask now</${Button}>
  </div>`;
}

/**
 * The data of a request. The last data stays visible while the broker is unreachable.
 * @param {{request: BrokerRequest, rows?: number, height?: number, children: (data: any) => any}} props
 */
export function FromBroker({ request, rows, height, children }) {
  const { data, error, loading, reload, cancel } = request;
  if (data !== undefined) return children(data);
  if (error && isGone(error)) return html`<${Loading} rows=${rows} height=${height} />`;
  if (error) return html`<${Failure} error=${error} again=${reload} />`;
  return loading ? html`<${Loading} rows=${rows} height=${height} onCancel=${cancel} />` : null;
}

/** How to show topics when the page has no REST proxy. @param {{topic?: string}} props */
export const NoProxy = ({ topic = "" }) =>
  html`
    <div class="state">
      <h2>No REST proxy is set</h2>
      <p>Topics and messages come from Kafka through a REST proxy. Start one, and tell the registry where it is:</p>
      <${Snippet} text=${"magicbyte.ui.rest.url=http://localhost:8082"} />
      <p>This line belongs in the registry's properties. As an environment variable:</p>
      <${Snippet} text=${"SCHEMA_REGISTRY_MAGICBYTE_UI_REST_URL=http://localhost:8082"} />
      <p><span class="mono">magicbyte up</span> sets it by itself; <span class="mono">magicbyte ui</span> takes <span class="mono">--rest-url</span>. A REST proxy of Confluent's API will do.</p>
      <div class="row">
          ${topic &&
            html`<${LinkButton} href=${href("/subjects", { q: topic })}>Subjects with this name</${LinkButton}>`}
          <${LinkButton} href=${href("/decode")}>Decode pasted bytes instead</${LinkButton}>
        </div>
      </div>
  `;
