/** Repeats a request every few seconds while the page is visible, and on demand. */
import { Button } from "../../parts/buttons.js";
import { html, useEffect, useRef } from "../../vendor/ui.js";

const SECONDS = 5;
/** The pause is at least this many times as long as the last request took. */
const RESTS = 4;

/** @param {{request: import("./broker.js").BrokerRequest}} props */
export function Refreshing({ request }) {
  const newest = useRef(request);
  newest.current = request;
  const begun = useRef(Date.now());
  const { loading, reload } = request;
  const ask = () => {
    const { loading, error, reload } = newest.current;
    if (!document.hidden && !loading && !error) reload();
  };
  useEffect(() => {
    if (loading) {
      begun.current = Date.now();
      return;
    }
    const took = Date.now() - begun.current;
    const timer = setTimeout(ask, Math.max(SECONDS * 1000, RESTS * took));
    return () => clearTimeout(timer);
  }, [loading]);
  useEffect(() => {
    document.addEventListener("visibilitychange", ask);
    return () => document.removeEventListener("visibilitychange", ask);
  }, []);
  return html`
    <span class="faint xs">every ${SECONDS} s</span>
    <${Button} kind="small" onClick=${reload}>Refresh</${Button}>
  `;
}
