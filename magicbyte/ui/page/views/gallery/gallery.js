/** All parts in all states, for the screenshots of tests. */
import { html } from "../../vendor/ui.js";
import { Badges, Cards, Codes, Controls, Inputs, States } from "./samples.js";

export default function Parts() {
  return html`<div class="page gallery">
    <div class="page-head"><h1 tabindex="-1">Parts</h1></div>
    ${
    [["Badges", Badges], ["Controls", Controls], ["Inputs", Inputs], ["Cards and notes", Cards], ["Code", Codes], [
      "States",
      States,
    ]].map(([title, part]) =>
      html`
        <section key=${title}>
          <h2>${title}</h2>
          <div class="sample">
            <${part} />
          </div>
        </section>
      `
    )
  }
  </div>`;
}
