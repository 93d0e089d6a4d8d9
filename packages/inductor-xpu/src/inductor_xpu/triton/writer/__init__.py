"""Writes a program of Triton's IR as SYCL text."""
