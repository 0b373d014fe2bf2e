// Fills the list of versions from ../versions.js, which the newest build writes for the pages of all versions.
document.addEventListener("DOMContentLoaded", () => {
  const select = document.getElementById("version-switch");
  const known = window.magicbyteVersions;
  if (!select || !known) return;
  const { version, root, page } = select.dataset;
  const inStable = /\/stable\//.test(new URL(`${root}x`, location.href).pathname);
  select.replaceChildren();
  for (const name of ["stable", ...known.versions]) {
    const text = name === "stable" ? `stable (${known.stable})` : name;
    select.append(new Option(text, name, false, inStable ? name === "stable" : name === version));
  }
  select.addEventListener("change", async () => {
    const folder = new URL(`${root}../${select.value}/`, location.href);
    const same = new URL(`${page}.html`, folder);
    // A page that the other version lacks gives way to its start page.
    const found = await fetch(same, { method: "HEAD" }).then(answer => answer.ok, () => false);
    location.assign(found ? same : new URL("index.html", folder));
  });
});
