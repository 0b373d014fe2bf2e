/**
 * The pages: one row each. The first row that fits the path is taken.
 *
 * A row names the path as the API has it, the module whose default export shows the page, the style files of that
 * page, and its title. The list's styles are among those of index.html, as its modules are in app.js.
 * @type {import("./types.d.ts").RouteRow[]}
 */
export const ROWS = [
  { path: "", view: () => import("../views/list/list.js"), title: () => "Subjects" },
  { path: "/subjects", view: () => import("../views/list/list.js"), title: () => "Subjects" },
  {
    path: "/registry",
    view: () => import("../views/registry/registry.js"),
    styles: ["registry"],
    title: () => "Registry",
  },
  { path: "/parts", view: () => import("../views/gallery/gallery.js"), styles: ["gallery"], title: () => "Parts" },
  {
    path: "/subjects/{subject}/edit",
    view: () => import("../views/edit/edit.js"),
    styles: ["edit"],
    title: ({ subject }) => `${subject}: a new version`,
  },
  { path: "/new", view: () => import("../views/edit/new.js"), styles: ["edit"], title: () => "New schema" },
  {
    path: "/subjects/{subject}",
    view: () => import("../views/evolution/evolution.js"),
    styles: ["evolution"],
    title: ({ subject }) => subject,
  },
  {
    path: "/subjects/{subject}/versions/{version}",
    view: () => import("../views/version/version.js"),
    styles: ["version"],
    title: ({ subject, version }, { view }) => `${subject}: version ${version}${view === "fields" ? ", fields" : ""}`,
  },
  {
    path: "/subjects/{subject}/versions/{version}/references",
    view: () => import("../views/references/references.js"),
    styles: ["references"],
    title: ({ subject, version }) => `${subject}: references of version ${version}`,
  },
  {
    path: "/schemas/ids/{id}",
    view: () => import("../views/by_id/by_id.js"),
    styles: ["by_id"],
    title: ({ id }) => `Schema id ${id}`,
  },
  {
    path: "/schemas/guids/{guid}",
    view: () => import("../views/by_id/by_id.js"),
    styles: ["by_id"],
    title: ({ guid }) => `Schema ${guid}`,
  },
  {
    path: "/subjects/{subject}/compare",
    view: () => import("../views/compare/compare.js"),
    styles: ["compare"],
    title: ({ subject }, { from, to }) => from && to ? `${subject}: ${from} to ${to}` : `${subject}: compare`,
  },
  { path: "/topics", view: () => import("../views/topics/topics.js"), styles: ["topics"], title: () => "Topics" },
  {
    path: "/topics/{topic}",
    view: () => import("../views/topics/topic.js"),
    styles: ["topics"],
    title: ({ topic }) => topic,
  },
  {
    path: "/topics/{topic}/messages",
    view: () => import("../views/topics/messages/messages.js"),
    styles: ["topics"],
    title: ({ topic }) => `${topic}: messages`,
  },
  {
    path: "/topics/{topic}/produce",
    view: () => import("../views/topics/produce/produce.js"),
    styles: ["topics"],
    title: ({ topic }) => `${topic}: produce`,
  },
  {
    path: "/topics/{topic}/groups",
    view: () => import("../views/topics/groups.js"),
    styles: ["topics"],
    title: ({ topic }) => `${topic}: groups`,
  },
  { path: "/decode", view: () => import("../views/decode/decode.js"), styles: ["topics"], title: () => "Decode" },
  {
    path: "/subjects/{subject}/settings",
    view: () => import("../views/settings/settings.js"),
    styles: ["settings"],
    title: ({ subject }) => `${subject}: settings`,
  },
  {
    path: "/config",
    view: () => import("../views/settings/registry_page.js"),
    styles: ["settings"],
    title: () => "Settings of the registry",
  },
];
