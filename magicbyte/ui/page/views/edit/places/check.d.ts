// What the live check of a draft knows.
import type { ApiError } from "../../../api/client.js";
import type { Position } from "./edits.js";
import type { Explanation } from "./findings.js";

export interface Verdict {
  version: number;
  backward: boolean;
  forward: boolean;
}

/** The answer of a registry that judges by its level alone. */
export interface Plain {
  compatible: boolean;
  messages: string[];
}

export interface Checked {
  sent: string;
  explanations: Explanation[];
  versions: Verdict[];
  cut: boolean;
  at: number;
  plain: Plain | null;
}

export interface Invalid {
  sent: string;
  message: string;
  position: Position | null;
}

/** `checked` stays while a later text is invalid or being checked. */
export interface Check {
  checking: boolean;
  checked: Checked | null;
  invalid: Invalid | null;
  failure: ApiError | null;
  again: () => void;
}
