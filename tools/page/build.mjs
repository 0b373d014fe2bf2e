/**
 * Builds the page for the wheel: `node build.mjs PAGE TARGET`.
 *
 * The modules become minified chunks below TARGET/assets, few of them, because each request takes a round trip: the frame
 * and the list are one chunk, what several views share is one, and each view is one. Each name has a hash of the content.
 * TARGET/loads.json says what each page needs, and every text that shrinks lies beside its brotli form.
 */
import { createHash } from "node:crypto";
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync } from "node:zlib";
import { rolldown } from "rolldown";

const [page, target] = process.argv.slice(2).map((path) => resolve(path));
const APP = join(page, "app.js");
const VIEW_MODULES = join(page, "view_modules.js");
/** The view that the first visit shows; its modules are in the chunk of app.js. */
const FIRST_VIEW = "list";
const WORKER = "text_worker";
/** Folders whose views share chunks of their own: the editor is large, and who looks at topics goes on to messages. */
const FOLDERS = { editor: ["views/edit/", "vendor/editor.js"], topics: ["views/topics/", "views/kafka/", "views/decode/"] };
const COMPRESSED = new Set([".js", ".css", ".svg", ".txt"]);

/** A file's name with the hash of its content. */
const hashed = (path, content) => {
  const suffix = extname(path);
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 16);
  return `${path.slice(0, -suffix.length)}-${hash}${suffix}`;
};

/** Copies what is no module: index.html and what it contains, style sheets, fonts, the icon and the licences. */
async function copyFiles() {
  const isKept = (path) => ![".js", ".ts", ".json"].includes(extname(path)) || path === join(page, "start.js");
  await rm(target, { recursive: true, force: true });
  await cp(page, target, { recursive: true, filter: isKept });
}

/** Renames the fonts, and their names in the files that load them. */
async function hashFonts() {
  const texts = (await filesOf(target)).filter((path) => [".css", ".html", ".js"].includes(extname(path)));
  for (const name of await readdir(join(target, "fonts"))) {
    const before = `fonts/${name}`;
    const after = hashed(before, await readFile(join(target, before)));
    await rename(join(target, before), join(target, after));
    for (const path of texts) await writeFile(path, (await readFile(path, "utf8")).replaceAll(before, after));
  }
}

/** Renames the style sheets of the views; returns their new names by the view's style name. */
async function hashSheets() {
  const sheets = {};
  for (const name of await readdir(join(target, "styles/views"))) {
    const before = `styles/views/${name}`;
    const content = await readFile(join(target, before));
    // index.html contains the first view's styles.
    if (name === `${FIRST_VIEW}.css`) continue;
    sheets[basename(name, ".css")] = hashed(before, content);
    await rename(join(target, before), join(target, sheets[basename(name, ".css")]));
  }
  return sheets;
}

/** Bundles the modules; returns the chunks. */
async function bundle(sheets) {
  const first = new Set();
  let viewPaths = {};
  const plugin = {
    name: "page",
    load: (id) =>
      id === join(page, "state/sheets.js") ? `export const sheetPath = (name) => (${JSON.stringify(sheets)})[name];` : null,
    async buildEnd() {
      viewPaths = await pathsOfViews(this);
      const waiting = [APP, viewPaths[FIRST_VIEW]];
      for (const id of waiting) {
        if (!first.has(id)) waiting.push(...this.getModuleInfo(first.add(id) && id).importedIds);
      }
    },
  };
  const building = await rolldown({
    input: { app: APP },
    plugins: [plugin],
    onLog: (level, log) => {
      if (level === "warn") throw new Error(log.message);
    },
  });
  const { output } = await building.write({
    dir: join(target, "assets"),
    format: "esm",
    minify: true,
    hashCharacters: "hex",
    entryFileNames: "[name]-[hash:16].js",
    chunkFileNames: "[name]-[hash:16].js",
    codeSplitting: {
      groups: [
        // A group takes what its modules import, too: the shared modules go before the folders.
        { name: "app", test: (id) => first.has(id), priority: 3 },
        { name: "shared", test: (id) => !isIn(Object.values(FOLDERS).flat())(id), minShareCount: 2, priority: 2 },
        ...Object.entries(FOLDERS).map(([name, paths]) => ({ name, test: isIn(paths), priority: 1 })),
      ],
    },
  });
  await bundleWorker();
  return { chunks: output, viewPaths };
}

/** Whether a module is in one of the folders, or is one of the files. */
const isIn = (paths) => (id) => paths.some((path) => id.startsWith(join(page, path)));

/** Bundles the worker by itself: it cannot load a chunk of the page. It keeps its name: text/in_worker.js has it. */
async function bundleWorker() {
  const building = await rolldown({ input: { [WORKER]: join(page, `text/${WORKER}.js`) } });
  await building.write({ dir: join(target, "assets"), format: "esm", minify: true, entryFileNames: "[name].js" });
}

/** The path of each view's module: view_modules.js imports them in the order of its keys. */
async function pathsOfViews(context) {
  const { VIEWS } = await import(pathToFileURL(VIEW_MODULES).href);
  const ids = context.getModuleInfo(VIEW_MODULES).dynamicallyImportedIds;
  const names = Object.keys(VIEWS);
  if (ids.length !== names.length) throw new Error(`view_modules.js has ${names.length} views and ${ids.length} imports`);
  return Object.fromEntries(names.map((name, i) => [name, ids[i]]));
}

/** What each row of the table of pages loads, for index.html. */
async function loads({ chunks, viewPaths }, sheets) {
  const { ROWS } = await import(pathToFileURL(join(page, "state/route_table.js")).href);
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const chunkOf = (id) => chunks.find((chunk) => chunk.moduleIds.includes(id)).fileName;
  const closure = (names) => {
    const found = new Set(names);
    for (const name of found) byName.get(name).imports.forEach((imported) => found.add(imported));
    return [...found].map((name) => `assets/${name}`);
  };
  const app = chunkOf(APP);
  return {
    entry: `assets/${app}`,
    pages: ROWS.map(({ path, view, styles = [] }) => ({
      path,
      view,
      modules: closure([app, chunkOf(viewPaths[view])]),
      styles: styles.map((name) => sheets[name]),
    })),
  };
}

async function filesOf(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Writes the brotli form of each file, unless it is no smaller. The server makes the gzip form, which takes little time. */
async function compress() {
  for (const path of (await filesOf(target)).filter((path) => COMPRESSED.has(extname(path)))) {
    const body = await readFile(path);
    const compressed = brotliCompressSync(body);
    if (compressed.length < body.length) await writeFile(`${path}.br`, compressed);
  }
}

await copyFiles();
await hashFonts();
const sheets = await hashSheets();
await mkdir(join(target, "assets"));
const bundled = await bundle(sheets);
await writeFile(join(target, "loads.json"), JSON.stringify(await loads(bundled, sheets), null, 1));
await compress();
