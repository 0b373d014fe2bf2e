"""Topics: one fenced transaction a batch on the driver, or Spark's writer on the executors."""
