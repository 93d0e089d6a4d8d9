"""Training: simulated quantization (QAT), casts of mxfp8, products of int8, low-bit optimizers."""
