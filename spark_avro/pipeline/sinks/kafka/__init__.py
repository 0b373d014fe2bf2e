"""Topics: one fenced transaction per batch on the driver, or Spark's writer on the executors."""
