"""What DataParallel copies with: broadcast, scatter, gather and sums over two devices."""

import torch
from torch.nn.parallel import comm

x = torch.arange(12.0).view(6, 2)
for source in (x, x.to("xpu:1")):
    copies = comm.broadcast(source, [0, 1])
    assert [t.device.index for t in copies] == [0, 1]
    for t in copies:
        torch.testing.assert_close(t.cpu(), x)
    parts = comm.scatter(source, [1, 0], [4, 2])
    assert [t.device.index for t in parts] == [1, 0]
    torch.testing.assert_close([t.cpu() for t in parts], list(x.split([4, 2])))
    torch.testing.assert_close(comm.gather(parts, 0, "cpu"), x)
    whole = comm.gather(parts, 0, 1)
    assert whole.device.index == 1
    torch.testing.assert_close(whole.cpu(), x)
    outs = [torch.empty(3, 2, device=f"xpu:{i}") for i in (0, 1)]
    comm.scatter(source, out=outs)
    torch.testing.assert_close(comm.gather(outs, out=torch.empty(6, 2, device="xpu:0")).cpu(), x)
    outs = [torch.empty(6, 2, device=f"xpu:{i}") for i in (0, 1)]
    comm.broadcast(source, out=outs)
    torch.testing.assert_close([t.cpu() for t in outs], [x, x])
    torch.testing.assert_close(
        [t.cpu() for t in comm.scatter(source, [0, 1], dim=1)], list(x.chunk(2, 1))
    )
both = comm.broadcast_coalesced([x.to("xpu:0"), x.to("xpu:0").half()], [0, 1])
assert [[t.device.index for t in ts] for ts in both] == [[0, 0], [1, 1]]
sums = comm.reduce_add_coalesced(both, 1)
assert sums[0].device.index == 1
torch.testing.assert_close([t.cpu() for t in sums], [2 * x, 2 * x.half()])
try:
    comm.broadcast(x, out=[torch.empty(3, device="xpu:0")])
except RuntimeError as error:
    assert "output 0 has (3,)" in str(error)
else:
    raise AssertionError("another shape was taken")
