"""Prints how others run a pipeline: systemd, and the Spark operator of Kubernetes."""
