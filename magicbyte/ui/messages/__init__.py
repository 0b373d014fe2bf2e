"""Messages for the page and for curl: decoded, encoded and made up by the serdes, with schemas of a registry."""
