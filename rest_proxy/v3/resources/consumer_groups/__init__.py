"""Consumer groups: their members, lags and offsets."""
