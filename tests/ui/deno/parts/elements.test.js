import { html } from "../../../../magicbyte/ui/page/vendor/ui.js";
import { equal } from "../generated.js";

Deno.test("an element without values is a new one each time", () => {
  // Preact notes in an element where the element is shown, so an element that is kept would keep a page that is gone.
  const drawn = () =>
    html`
      <section>
        <p class="s">Nothing yet.</p>
      </section>
    `;
  const [first, second] = [drawn(), drawn()];
  equal([first.type, first.props.children.type, first.props.children.props.children], ["section", "p", "Nothing yet."]);
  equal([first === second, first.props.children === second.props.children], [false, false]);
});
