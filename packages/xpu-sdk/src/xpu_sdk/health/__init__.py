"""What ``xpu-sdk doctor`` looks at, layer by layer, from the wheels up to the adapters."""
