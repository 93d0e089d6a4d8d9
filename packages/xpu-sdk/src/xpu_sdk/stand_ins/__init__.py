"""What stands in for a GPU on a machine without one: strict memory, a virtual GPU, the GPU's own compiler."""
