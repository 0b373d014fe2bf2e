/** Other ways to read bytes whose frame is missing or unknown. */
import { Button } from "../../../parts/buttons.js";
import { html, useId, useState } from "../../../vendor/ui.js";

const FRAME = 5;

/** @param {{bytes: Uint8Array, as: string, onAs: (id: string) => void, onBytes: (bytes: Uint8Array) => void}} props */
export function ReadAs({ bytes, as, onAs, onBytes }) {
  const id = useId();
  const [text, setText] = useState(as);
  const isId = /^\d{1,10}$/.test(text) && Number(text) < 2 ** 31;
  const go = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (isId) onAs(text);
  };
  const zeroed = () => onBytes(Uint8Array.from([0, ...bytes.subarray(1)]));
  const later = bytes[0] !== 0 && bytes.length > FRAME ? zeroAfter(bytes) : 0;
  return html`
    <form class="row wrap read-as" onSubmit=${go}>
      <label for=${id}>Read all bytes as a payload of id</label>
      <input class="input mono num" id=${id} inputmode="numeric" autocomplete="off" value=${text}
        onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value.trim())} />
      <${Button} type="submit" kind="small" disabled=${!isId}>Read</${Button}>
        ${as && html`<${Button} kind="small" onClick=${() => onAs("")}>As a message</${Button}>`}
        ${!as && bytes[0] !== 0 && bytes.length > FRAME &&
          html`<${Button} kind="small" onClick=${zeroed}>As if the first byte were 0</${Button}>`}
        ${!as && later > 0 &&
          html`<${Button} kind="small" onClick=${() =>
            onBytes(bytes.subarray(later))}>From byte ${later} on</${Button}>`}
      </form>
  `;
}

/**
 * The offset at which a frame may begin: a zero byte before a small id; 0 if there is none.
 * @param {Uint8Array} bytes
 */
function zeroAfter(bytes) {
  for (let at = 1; at + FRAME < Math.min(bytes.length, 64); at += 1) {
    if (bytes[at] === 0 && bytes[at + 1] === 0 && bytes[at + 2] === 0 && (bytes[at + 3] || bytes[at + 4])) return at;
  }
  return 0;
}
