"""Rules of schemas in the proxy: settings, weight and counts."""
