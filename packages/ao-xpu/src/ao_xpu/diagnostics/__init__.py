"""The report of a model's layers, strict mode, and trials of configs."""
