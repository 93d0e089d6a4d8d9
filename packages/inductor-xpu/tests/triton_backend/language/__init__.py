"""Cases of Triton's language, each one kernel, whose results are compared with those of Triton's interpreter."""

from . import elementwise, programs, tiles
from .case import unique

CASES = unique(case for module in (elementwise, tiles, programs) for case in module.cases())
