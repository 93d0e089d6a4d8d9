"""Fusion of oneDNN's operators with what follows them: see `steps.py` for what can follow."""
