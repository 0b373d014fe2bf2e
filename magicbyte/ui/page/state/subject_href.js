/** The link to a subject, in the subject's own context. */
import { splitSubject } from "../text/split_subject.js";
import { path } from "../api/encode_url.js";
import { href } from "./routes.js";

/** The address of a subject's latest version. @param {{subject: string, version: number | null}} facts */
export function subjectHref({ subject, version }) {
  const { context, name } = splitSubject(subject);
  return href(path`/subjects/${name}/versions/${version || "latest"}`, {}, { context });
}
