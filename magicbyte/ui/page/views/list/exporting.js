/** Export: the lines of the registry or of chosen subjects, as a file. */
import { call } from "../../api/client.js";
import { curl } from "../../api/curl.js";
import { copy } from "../../parts/copying.js";
import { Menu } from "../../parts/menus.js";
import { toast } from "../../parts/toasts.js";
import { html } from "../../vendor/ui.js";
import { counted } from "../../text/counted.js";
import { grouped } from "../../text/grouped.js";

const WHOLE = { method: "GET", path: "/export" };

/** @param {{listing: import("../../api/types.d.ts").Overview, rows: number[], filtered: boolean}} props */
export function ExportMenu({ listing, rows, filtered }) {
  const shown = () => exportSubjects(rows.map((row) => listing.subject[row]));
  return html`<${Menu} label="Export" items=${[
    { label: "Everything, with ids and settings", onClick: exportAll },
    filtered && rows.length > 0
      ? { label: `The ${grouped(rows.length)} shown, and what they refer to`, onClick: shown }
      : null,
    "-",
    { label: "Copy as curl", onClick: () => copy(curl(WHOLE), "curl command copied") },
  ]} />`;
}

/** Saves the whole export. */
export async function exportAll() {
  await saving(async () => {
    const response = await call("GET", "/export", { raw: true });
    save(await response.blob(), "registry.ndjson");
  });
}

/**
 * Saves the lines of some subjects and of their references. `POST /import?lines=true` imports the file.
 * @param {string[]} subjects
 */
export async function exportSubjects(subjects) {
  await saving(async () => {
    const response = await call("GET", "/export", { raw: true, context: false });
    const { lines, missing } = linesOf(await response.text(), new Set(subjects));
    if (missing.length > 0) {
      const names = missing.slice(0, NAMED).join(", ") + (missing.length > NAMED ? ", ..." : "");
      toast(`The export lacks ${counted(missing.length, "subject")} (gone, or you may not read it): ${names}`);
    }
    if (lines.length === 0) return;
    save(
      new Blob([lines.join("\n") + "\n"], { type: "application/x-ndjson" }),
      subjects.length === 1 ? fileName(subjects[0]) : "subjects.ndjson",
    );
  });
}

/** The most subjects that a sentence names. */
const NAMED = 3;

/**
 * The lines about some subjects and their references, and the subjects that the export lacks because the user may not
 * read them. An export has each version after the versions that it refers to.
 * @param {string} text
 * @param {Set<string>} subjects
 */
export function linesOf(text, subjects) {
  const needed = new Set();
  const found = new Set();
  const lines = [];
  for (const line of text.split("\n").reverse()) {
    if (!line) continue;
    const { kind, subject, version, references = [] } = JSON.parse(line);
    if (kind === "manifest" || kind === "end") continue;
    if (kind === "schema") found.add(subject);
    if (!subjects.has(subject) && !(kind === "schema" && needed.has(`${subject} ${version}`))) continue;
    for (const reference of references) needed.add(`${reference.subject} ${reference.version}`);
    lines.push(line);
  }
  return { lines: lines.reverse(), missing: [...subjects].filter((subject) => !found.has(subject)) };
}

/** @param {() => Promise<void>} work */
async function saving(work) {
  try {
    await work();
  } catch (error) {
    toast(`The export failed: ${/** @type {Error} */ (error).message}`);
  }
}

/** @param {string} subject */
const fileName = (subject) => subject.replace(/[^\w.-]+/g, "_") + ".ndjson";

/** Saves a file. @param {Blob} blob @param {string} name */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
