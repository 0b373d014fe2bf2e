/**
 * Whether this browser has seen pipelines or their markers: the bar then links to them even if no port is configured.
 */
import { stored } from "./preferences.js";

/** The topic of all pipelines' markers. */
export const MARKERS = "_magicbyte_pipelines";

export const pipelinesSeen = stored("pipelines-seen", false);
