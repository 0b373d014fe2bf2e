/** Actions that go with a change of the editor's text: Undo and Redo of the change repeat and reverse them. */
import { EditorView, invertedEffects, StateEffect } from "../../../vendor/editor.js";

/**
 * @typedef {{run: () => void, reverse: () => void}} StepAction  `reverse` takes back what `run` does; neither changes
 *   the text
 */

/** Adds an action to a transaction. */
export const withAction = StateEffect.define();

/** The extension that runs the actions, and that keeps their reverse in the history. */
export const stepActions = [
  invertedEffects.of((/** @type {any} */ transaction) =>
    actionsOf(transaction).map(({ run, reverse }) => withAction.of({ run: reverse, reverse: run }))
  ),
  EditorView.updateListener.of((/** @type {any} */ { transactions }) => {
    for (const transaction of transactions) for (const { run } of actionsOf(transaction)) run();
  }),
];

/**
 * @param {any} transaction
 * @returns {StepAction[]}
 */
function actionsOf({ effects }) {
  return effects
    .filter((/** @type {any} */ effect) => effect.is(withAction))
    .map((/** @type {any} */ effect) => effect.value);
}
