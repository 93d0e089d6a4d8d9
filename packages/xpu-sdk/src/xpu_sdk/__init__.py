"""Umbrella of the xpu packages: extras that install them together, and the command ``xpu-sdk``.

The command finds adapters by entry point. Importing this package imports no framework and touches no device.
"""

__version__ = "0.1.0rc1"
