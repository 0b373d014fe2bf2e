// Types that several modules of the page share.
import type { Child, Component, Signal } from "../vendor/ui.d.ts";

export type { Child, Component, Signal };

export interface RouteRow {
  /** As the API has it: `/subjects/{subject}/compare`. */
  path: string;
  /** The view's name in view_modules.js. */
  view: string;
  /** Names of files in styles/views/ without `.css`. */
  styles?: string[];
  title: (params: Record<string, string>, query: Record<string, string>) => string;
}

/** Loads a view. `ready` resolves when the view has something to show. */
export type LoadView = () => Promise<{ default: Component<ViewProps>; ready?: () => Promise<unknown> }>;

export interface ViewProps {
  params: Record<string, string>;
  query: Record<string, string>;
}

export interface Location {
  path: string;
  params: Record<string, string>;
  query: Record<string, string>;
  hash: string;
  /** `.eu`, or empty for the default context. */
  context: string;
  row: RouteRow | null;
}

/** The configuration in index.html; `/ui/config.json` returns the same. */
export interface Config {
  name: string;
  color: string;
  readOnly: boolean;
  restAvailable: boolean;
  /** Whether `magicbyte.ui.pipelines` names metrics ports. */
  pipelinesConfigured: boolean;
  /** Whether lists may omit entries that the user may not see. */
  accessRules: boolean;
  /** The registry's address relative to the page's folder: `../`, or `registry/` behind `magicbyte ui`. */
  registryBase: string;
  version: string;
  features: string[];
}

/** A row of the listing. */
export interface Facts {
  subject: string;
  type: string | null;
  version: number;
  versions: number;
  deletedVersions: number;
  deleted: boolean;
  id: number | null;
  ts: number | null;
  references: number | null;
  level: string | null;
  ownLevel: boolean | null;
  mode: string | null;
  ownMode: boolean | null;
}
