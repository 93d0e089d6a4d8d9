from datetime import timedelta

from torch._C import _distributed_c10d as c10d

class StagedProcessGroup(c10d.Backend):
    class Options(c10d.Backend.Options):
        is_high_priority_stream: bool
        def __init__(self) -> None: ...

    def __init__(
        self,
        store: c10d.Store,
        rank: int,
        size: int,
        options: StagedProcessGroup.Options,
        transport: c10d.Backend,
        name: str,
    ) -> None: ...

class OneCclTransport(c10d.Backend):
    def __init__(
        self, store: c10d.Store, rank: int, size: int, gloo: c10d.Backend, timeout: timedelta
    ) -> None: ...

def load_oneccl(paths: list[str]) -> None: ...
def end_groups_within(timeout: timedelta) -> None: ...
