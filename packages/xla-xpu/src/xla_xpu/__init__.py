"""The xpu device for JAX. There is nothing to import: JAX finds the plugin by its entry point."""
