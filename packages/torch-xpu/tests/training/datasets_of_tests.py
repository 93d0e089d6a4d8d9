"""Data for tests of loaders, where a spawned worker can import it."""

import torch
from torch.utils.data import Dataset


class Numbers(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, i):
        return {"x": torch.full((3,), float(i)), "i": i}


class OnTheDevice(Numbers):
    def __getitem__(self, i):
        return torch.full((3,), float(i), device="xpu")


class ThroughTheDevice(Numbers):
    def __getitem__(self, i):
        return torch.full((3,), float(i)).to("xpu").cpu()
