"""What code that a compiler writes calls directly, without PyTorch's dispatcher. Loads the device module.

`current_stream` returns the handle of the thread's stream on a device, as the runtime's launchers take it: 0
for the default stream.
"""

from ._bridge import current_device
from ._device import current_stream, empty_strided, random_states

__all__ = ["current_device", "current_stream", "empty_strided", "random_states"]
