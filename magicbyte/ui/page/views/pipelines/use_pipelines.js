/** Polls the pipelines while the page is visible. */
import { pipelines } from "../../api/pipelines.js";
import { useRequest } from "../../parts/use_request.js";
import { pipelinesSeen } from "../../state/pipelines_seen.js";
import { config } from "../../state/signals.js";
import { useEffect, useRef } from "../../vendor/ui.js";

const EVERY_MS = 5000;

/**
 * @param {string} [name] only this pipeline, with details
 * @returns {import("../../parts/use_request.js").RequestState<import("../../api/pipelines.js").Pipelines>}
 */
export function usePipelines(name) {
  const request = useRequest((signal) => pipelines(name, { signal }), ["pipelines", name]);
  const { data, loading, reload } = request;
  const busy = useRef(loading);
  busy.current = loading;
  useEffect(() => {
    const again = () => {
      if (document.visibilityState === "visible" && !busy.current) reload();
    };
    const timer = setInterval(again, EVERY_MS);
    document.addEventListener("visibilitychange", again);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", again);
    };
  }, [name]);
  useEffect(() => {
    if (!data || config.peek().pipelinesConfigured || name !== undefined) return;
    if (data.pipelines.length > 0) pipelinesSeen.value = true;
    else if (data.markers.state === "read" || data.markers.state === "missing") pipelinesSeen.value = false;
  }, [data]);
  return request;
}
