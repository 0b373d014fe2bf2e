/** Links to the subjects whose names are nearest to the name of a missing subject. */
import { splitSubject } from "../../text/split_subject.js";
import { needListing } from "../../state/live_listing.js";
import { LinkButton } from "../../parts/buttons.js";
import { Shown } from "../../parts/hostile.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { nearestNames } from "../../search/nearest.js";
import { context, overview } from "../../state/signals.js";
import { html, useEffect, useMemo } from "../../vendor/ui.js";

/** @param {{subject: string}} props */
export function NearestSubjects({ subject }) {
  useEffect(() => {
    needListing();
  }, []);
  const listing = overview.value;
  const names = useMemo(() => {
    const splits = (listing?.subject ?? []).map(splitSubject);
    return nearestNames(
      splits.filter((split) => split.context === context.value).map((split) => split.name),
      subject,
    );
  }, [listing, subject, context.value]);
  return names.map((name) =>
    html`
      <${LinkButton} href=${href(path`/subjects/${name}`)} key=${name}>
        <${Shown} name text=${name} />
        </${LinkButton}>
    `
  );
}
