/** Asks again every few seconds while the page is visible, and on demand. */
import { Button } from "../../parts/buttons.js";
import { html, useEffect, useRef } from "../../vendor/ui.js";

const SECONDS = 5;

/**
 * @param {{request: import("./broker.js").Asked}} props
 */
export function Refreshing({ request }) {
  const newest = useRef(request);
  newest.current = request;
  useEffect(() => {
    const ask = () => {
      const { loading, error, reload } = newest.current;
      if (!document.hidden && !loading && !error) reload();
    };
    const timer = setInterval(ask, SECONDS * 1000);
    document.addEventListener("visibilitychange", ask);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", ask);
    };
  }, []);
  return html`
    <span class="faint xs">every ${SECONDS} s</span>
    <${Button} kind="small" onClick=${request.reload}>Refresh</${Button}>
  `;
}
