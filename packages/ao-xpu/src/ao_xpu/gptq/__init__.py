"""GPTQ: quantization whose later columns make up for the errors of earlier ones."""
