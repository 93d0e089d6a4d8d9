"""The umbrella over the xpu packages: extras to install them together, one command line for all."""

__version__ = "0.1.0"
