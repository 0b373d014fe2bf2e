"""Topics of dead letters: counted, shown, sent back and purged, for the command, the REST proxy and the page."""
