"""What users ask: which layers are quantized, which are not and why, which configs work."""
