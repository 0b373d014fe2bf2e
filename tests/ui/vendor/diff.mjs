export { diffArrays, diffWordsWithSpace } from "diff";
