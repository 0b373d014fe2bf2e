"""Files that hold the state of a registry or the records of its log, in the forms of several tools."""
