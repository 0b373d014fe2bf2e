/** Where a row of the list leads. */
import { splitSubject } from "../../state/listing_columns.js";
import { href, path } from "../../state/routes.js";

/** The address of a subject's latest version. @param {{subject: string, version: number | null}} facts */
export function addressOf({ subject, version }) {
  const { context, name } = splitSubject(subject);
  return href(path`/subjects/${name}/versions/${version || "latest"}`, {}, { context });
}
