"""`magicbyte topics`: lists, creates, describes, alters and deletes topics."""
