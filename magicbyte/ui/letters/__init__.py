"""Views of dead letters: counted by groups and shown one by one, through the REST proxy with the sender's rights."""
