/** Sends a change of settings, and shows the reason of a refusal. */
import { ApiError } from "../../api/client.js";
import { toast } from "../../parts/toasts.js";
import { path } from "../../api/encode_url.js";
import { refusalWords } from "../subject/held_by.js";

/**
 * @param {() => Promise<any>} request
 * @param {(answer: any) => void} done
 */
export async function sent(request, done) {
  try {
    done(await request());
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    toast(`Not changed: ${refusalWords(error)}`);
  }
}

/** @param {string} subject  empty for the registry's settings */
export function settingsPath(subject) {
  return subject === "" ? "" : path`/${subject}`;
}
