/**
 * The pages, one row each. The first row that matches the path wins.
 *
 * A row has the path as the API has it, the view's name in view_modules.js, the style sheets of the view, and the page's
 * title. index.html has the list's styles already.
 * @type {import("./types.d.ts").RouteRow[]}
 */
export const ROWS = [
  { path: "", view: "list", title: () => "Subjects" },
  { path: "/subjects", view: "list", title: () => "Subjects" },
  {
    path: "/registry",
    view: "registry",
    styles: ["registry"],
    title: () => "Registry",
  },
  { path: "/parts", view: "gallery", styles: ["gallery"], title: () => "Parts" },
  {
    path: "/subjects/{subject}/edit",
    view: "edit",
    styles: ["edit"],
    title: ({ subject }) => `${subject}: a new version`,
  },
  { path: "/new", view: "new", styles: ["edit"], title: () => "New schema" },
  {
    path: "/subjects/{subject}",
    view: "evolution",
    styles: ["evolution"],
    title: ({ subject }) => subject,
  },
  {
    path: "/subjects/{subject}/versions/{version}",
    view: "version",
    styles: ["version"],
    title: ({ subject, version }, { view }) => `${subject}: version ${version}${view === "fields" ? ", fields" : ""}`,
  },
  {
    path: "/subjects/{subject}/versions/{version}/references",
    view: "references",
    styles: ["references"],
    title: ({ subject, version }) => `${subject}: references of version ${version}`,
  },
  {
    path: "/schemas/ids/{id}",
    view: "by_id",
    styles: ["by_id"],
    title: ({ id }) => `Schema id ${id}`,
  },
  {
    path: "/schemas/guids/{guid}",
    view: "by_id",
    styles: ["by_id"],
    title: ({ guid }) => `Schema ${guid}`,
  },
  {
    path: "/subjects/{subject}/compare",
    view: "compare",
    styles: ["compare"],
    title: ({ subject }, { from, to }) => from && to ? `${subject}: ${from} to ${to}` : `${subject}: compare`,
  },
  { path: "/topics", view: "topics", styles: ["topics", "kafka"], title: () => "Topics" },
  { path: "/new-topic", view: "new_topic", styles: ["topics", "kafka"], title: () => "New topic" },
  { path: "/groups", view: "group_list", styles: ["topics", "kafka"], title: () => "Groups" },
  { path: "/groups/{group}", view: "group", styles: ["topics", "kafka"], title: ({ group }) => `${group}: group` },
  { path: "/brokers", view: "brokers", styles: ["topics", "kafka"], title: () => "Brokers" },
  {
    path: "/topics/{topic}",
    view: "topic",
    styles: ["topics"],
    title: ({ topic }) => topic,
  },
  {
    path: "/topics/{topic}/messages",
    view: "messages",
    styles: ["topics"],
    title: ({ topic }) => `${topic}: messages`,
  },
  {
    path: "/topics/{topic}/produce",
    view: "produce",
    styles: ["topics"],
    title: ({ topic }) => `${topic}: produce`,
  },
  {
    path: "/topics/{topic}/groups",
    view: "groups",
    styles: ["topics"],
    title: ({ topic }) => `${topic}: groups`,
  },
  {
    path: "/topics/{topic}/configs",
    view: "topic_settings",
    styles: ["topics", "kafka"],
    title: ({ topic }) => `${topic}: settings`,
  },
  { path: "/dead-letters", view: "dead_letters", styles: ["topics", "dead_letters"], title: () => "Dead letters" },
  {
    path: "/dead-letters/{topic}",
    view: "letters",
    styles: ["topics", "dead_letters"],
    title: ({ topic }) => `${topic}: dead letters`,
  },
  {
    path: "/dead-letters/{topic}/{partition}/{offset}",
    view: "letter",
    styles: ["topics", "dead_letters"],
    title: ({ topic, partition, offset }) => `${topic}: letter ${partition}:${offset}`,
  },
  {
    path: "/pipelines",
    view: "pipelines",
    styles: ["pipelines"],
    title: () => "Pipelines",
  },
  {
    path: "/pipelines/{name}",
    view: "pipeline",
    styles: ["pipelines"],
    title: ({ name }) => `${name}: pipeline`,
  },
  { path: "/decode", view: "decode", styles: ["topics"], title: () => "Decode" },
  {
    path: "/subjects/{subject}/settings",
    view: "settings",
    styles: ["settings"],
    title: ({ subject }) => `${subject}: settings`,
  },
  {
    path: "/config",
    view: "registry_page",
    styles: ["settings"],
    title: () => "Settings of the registry",
  },
];
