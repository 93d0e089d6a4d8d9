"""Partitioning of a program over several devices: each device runs it on its parts of the arrays."""
