"""Sparse weights: blocks of zeros are left out, or two of four numbers."""
