/** The holders that block the deletion of a version or a subject. */
import { splitSubject } from "../../text/split_subject.js";
import { Shown } from "../../parts/hostile.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { html } from "../../vendor/ui.js";
import { counted, numbered } from "../../text/counted.js";

/** @import { Holder } from "../../api/holders.js" */

/** The most holders that are named; the rest is counted. */
const NAMED = 5;

/** The holders as links. @param {{holders: Holder[], cut?: boolean}} props `cut`: there are more holders */
export function HeldBy({ holders, cut = false }) {
  if (holders.length === 0) return null;
  const more = holders.length - NAMED;
  return html`<span class="held s">Held by ${
    holders.slice(0, NAMED).map((holder, i) => {
      const { context, name } = splitSubject(holder.subject);
      const address = href(path`/subjects/${name}/versions/${holder.version}/references`, {}, { context });
      return html`${i > 0 && ", "}<a class="link anywhere" href=${address} key=${i}><span class="mono"><${Shown} name
        text=${holder.subject} /></span> v${holder.version}</a>${holder.deleted && " (deleted)"}`;
    })
  }${more > 0 && ` and ${more} more`}${cut && more <= 0 && " and others"}</span>`;
}

/** Why holders block a deletion; empty if there are none. @param {Holder[]} holders */
export const heldReason = (holders) =>
  holders.length > 0
    ? `${counted(holders.length, "version")} ${
      numbered(holders.length, "refers", "refer")
    } to it, so it cannot be deleted.`
    : "";

/**
 * The registry's message about a refusal, with the holders that it names.
 * @param {any} error
 */
export function refusalWords(error) {
  /** @type {Holder[]} */
  const holders = error.data?.referencedBy ?? [];
  if (holders.length === 0) return error.message;
  const named = holders.slice(0, NAMED).map(({ subject, version }) => `${subject} v${version}`).join(", ");
  return `${error.message} Held by ${named}${holders.length > NAMED ? " and others" : ""}.`;
}
