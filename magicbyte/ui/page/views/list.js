/** The list of subjects. */
import { needListing } from "../listing_state.js";
import { overview } from "../state.js";
import { html, useEffect } from "../vendor/ui.js";
import { href, path } from "../routes.js";

export default function List() {
  useEffect(() => {
    needListing();
  }, []);
  return html`<div class="page"><h1 tabindex="-1">Subjects</h1>
    ${
    overview.value?.subject.slice(0, 100).map((name) =>
      html`<p key=${name}><a href=${href(path`/subjects/${name}`)}>${name}</a></p>`
    )
  }</div>`;
}
