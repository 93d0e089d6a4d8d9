"""Triton's IR: reader, program and passes over it."""
