export { Compartment, EditorSelection, EditorState, Prec, RangeSet, StateEffect, StateField, Text, Transaction } from "@codemirror/state";
export {
  crosshairCursor,
  Decoration,
  drawSelection,
  dropCursor,
  EditorView,
  gutter,
  gutterLineClass,
  GutterMarker,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  hoverTooltip,
  keymap,
  lineNumbers,
  placeholder,
  rectangularSelection,
  showPanel,
  showTooltip,
  ViewPlugin,
  WidgetType,
} from "@codemirror/view";
export {
  cursorDocEnd,
  cursorDocStart,
  defaultKeymap,
  history,
  historyKeymap,
  indentLess,
  indentMore,
  indentSelection,
  indentWithTab,
  invertedEffects,
  isolateHistory,
  redo,
  toggleComment,
  undo,
} from "@codemirror/commands";
export {
  bracketMatching,
  codeFolding,
  defaultHighlightStyle,
  foldGutter,
  foldKeymap,
  forceParsing,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  StreamLanguage,
  syntaxHighlighting,
  syntaxTree,
} from "@codemirror/language";
export { json, jsonLanguage, jsonParseLinter } from "@codemirror/lang-json";
export { protobuf } from "@codemirror/legacy-modes/mode/protobuf";
export { acceptChunk, getChunks, goToNextChunk, goToPreviousChunk, MergeView, rejectChunk, unifiedMergeView } from "@codemirror/merge";
export {
  closeLintPanel,
  diagnosticCount,
  forceLinting,
  lintGutter,
  lintKeymap,
  linter,
  nextDiagnostic,
  openLintPanel,
  previousDiagnostic,
  setDiagnostics,
  setDiagnosticsEffect,
} from "@codemirror/lint";
export { closeSearchPanel, getSearchQuery, highlightSelectionMatches, openSearchPanel, search, searchKeymap, SearchQuery, setSearchQuery } from "@codemirror/search";
export {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completeAnyWord,
  completeFromList,
  completionKeymap,
  completionStatus,
  snippetCompletion,
  startCompletion,
} from "@codemirror/autocomplete";
export { tags } from "@lezer/highlight";
