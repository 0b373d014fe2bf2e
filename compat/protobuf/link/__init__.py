"""Links a schema: checks it, describes it for the runtime, and normalizes it."""
