"""Test classes that hold for everyone who offers the runtime's streams and memory under a face of its own.

A suite derives from them and gives the fixture ``api``, a :class:`Framework`::

    class TestStreams(StreamConformance):
        @pytest.fixture
        def api(self):
            return TorchXpu()
"""

from .framework import Framework
from .memory import MemoryConformance
from .streams import StreamConformance

__all__ = ["Framework", "MemoryConformance", "StreamConformance"]
