/**
 * Loads the views by their names in state/route_table.js. A module's default export is the view's component.
 *
 * The route table has names, not imports. Nearly every module imports the table, so imports would be circular.
 * @type {Record<string, import("./state/types.d.ts").LoadView>}
 */
export const VIEWS = {
  list: () => import("./views/list/list.js"),
  registry: () => import("./views/registry/registry.js"),
  gallery: () => import("./views/gallery/gallery.js"),
  edit: () => import("./views/edit/edit.js"),
  new: () => import("./views/edit/new.js"),
  evolution: () => import("./views/evolution/evolution.js"),
  version: () => import("./views/version/version.js"),
  references: () => import("./views/references/references.js"),
  by_id: () => import("./views/by_id/by_id.js"),
  compare: () => import("./views/compare/compare.js"),
  topics: () => import("./views/topics/topic_list.js"),
  topic: () => import("./views/topics/topic.js"),
  messages: () => import("./views/topics/messages/messages.js"),
  produce: () => import("./views/topics/produce/produce.js"),
  groups: () => import("./views/topics/topic_groups.js"),
  topic_settings: () => import("./views/topics/configs/topic_settings.js"),
  new_topic: () => import("./views/topics/configs/new_topic.js"),
  group_list: () => import("./views/groups/group_list.js"),
  group: () => import("./views/groups/group.js"),
  brokers: () => import("./views/brokers/brokers.js"),
  dead_letters: () => import("./views/dead_letters/letter_topic_list.js"),
  letters: () => import("./views/dead_letters/letter_list.js"),
  letter: () => import("./views/dead_letters/letter.js"),
  pipelines: () => import("./views/pipelines/pipeline_list.js"),
  pipeline: () => import("./views/pipelines/pipeline.js"),
  decode: () => import("./views/decode/decode.js"),
  settings: () => import("./views/settings/settings.js"),
  registry_page: () => import("./views/settings/registry_page.js"),
};
