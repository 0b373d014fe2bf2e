/** Reads responses with one JSON value per line, as a stream. */

/**
 * The values of the lines. Reads on only when the caller asks for the next value.
 * @param {{body: ReadableStream<Uint8Array> | null}} response
 * @param {(line: string) => any} [parse] reads a line; `parseJson` keeps all digits of numbers
 * @returns {AsyncGenerator<any>}
 */
export async function* jsonLines({ body }, parse = JSON.parse) {
  if (!body) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  /**
   * Parts of the unfinished line, joined only at its end: joining them on each read would copy a long text again and
   * again.
   * @type {string[]}
   */
  let parts = [];
  try {
    for (;;) {
      const { value, done } = await reader.read();
      const lines = decoder.decode(value, { stream: !done }).split("\n");
      const rest = lines.pop() ?? "";
      for (const line of lines) {
        const text = parts.join("") + line;
        parts = [];
        if (text) yield parse(text);
      }
      parts.push(rest);
      if (!done) continue;
      const text = parts.join("");
      if (text) yield parse(text);
      return;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
