"""``python -m xpu_sdk`` is the command ``xpu-sdk``."""

import sys

from .cli import main

sys.exit(main())
