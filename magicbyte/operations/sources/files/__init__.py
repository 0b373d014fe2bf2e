"""Files with the state of a registry or the records of its log, recognized by what is in them."""
