"""Which step, tensor and element went bad first, without the host in the loop."""

import ctypes
import struct
from collections.abc import Sequence
from typing import NamedTuple, Optional

import torch

from . import _support

_ops = torch.ops.cuproof

# cuproof_ops_guard_ring and cuproof_ops_guard_record, in include/cuproof/ops/nonfinite_guard.h.
_HEADER = struct.Struct("<QQQQI28x")
_RECORD = struct.Struct("<QqqIHH")
MOST_SITES = 1 << 16  # a record has 16 bits for it
_DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def _value(bits: int, dtype: torch.dtype) -> float:
    if dtype == torch.float16:
        return struct.unpack("<e", struct.pack("<H", bits))[0]
    if dtype == torch.bfloat16:
        bits <<= 16
    return struct.unpack("<f", struct.pack("<I", bits))[0]


class BadElement(NamedTuple):
    """``first_bad`` on the host."""

    tensor: int
    """Place in the list."""
    index: int
    """Element of that tensor, in the order of its memory."""
    value: float
    bits: int
    dtype: torch.dtype

    @classmethod
    def of(cls, first_bad: torch.Tensor) -> Optional["BadElement"]:
        """Reads ``first_bad``; None if all elements are finite. Waits for the GPU."""
        tensor, index, rest = first_bad.tolist()
        if tensor < 0:
            return None
        bits, dtype = rest & 0xFFFFFFFF, _DTYPES[rest >> 32]
        return cls(tensor, index, _value(bits, dtype), bits, dtype)


class GuardRecord(NamedTuple):
    """One call of :meth:`NonfiniteGuard.check` that found something."""

    step: int
    """Steps counted by the guard before that call."""
    site: str
    """The name given to ``check``."""
    tensor: int
    """Place in the list of that call, Nones counted: the first tensor that has an Inf or NaN."""
    index: int
    """Its first bad element, in the order of its memory."""
    value: float
    bits: int
    """The element itself, 16-bit types in the low half."""
    dtype: torch.dtype


class NonfiniteGuard:
    """Looks at tensors as the program goes by, and keeps in a ring on the GPU what went bad.

        guard = NonfiniteGuard()
        for batch in batches:
            loss = model(batch)
            guard.check([loss], site="loss")
            loss.backward()
            guard.check([p.grad for p in parameters], site="gradients", end_of_step=True)
        for record in guard.read():
            print(record)

    ``check`` reads its tensors once, never waits for the GPU, and may be captured in a CUDA graph:
    the step is counted on the device at every replay. A full ring keeps its oldest records, since
    the first failure explains the others; ``dropped`` says how many it could not keep.
    """

    def __init__(
        self, capacity: int = 1024, device: str | int | torch.device | None = None
    ) -> None:
        """``capacity``: records, 1 to 2^20, of 32 bytes. ``device``: default the current one."""
        size = _ops.guard_ring_bytes(capacity)
        kind = torch.device("cuda" if device is None else device)
        if kind.type not in _support.DEVICE_TYPES:
            raise RuntimeError(f"device: expected a CUDA device, got {kind}; pass 'cuda:0'")
        with torch.no_grad():
            self._ring = torch.empty(size, dtype=torch.uint8, device=kind)
            self._nothing = torch.empty(0, device=kind)
        self._sites: dict[str, int] = {}
        self.dropped = 0
        """Records that found the ring full, as of the last ``read``."""
        _ops.guard_ring_init_(self._ring, capacity)

    def check(
        self, tensors: Sequence[torch.Tensor | None], site: str = "", *, end_of_step: bool = False
    ) -> None:
        """Notes the first Inf or NaN of these tensors (dtypes and layouts as in
        :mod:`cuproof_ops.functional`), under the name ``site`` (at most 65,536 different ones).
        None, the gradient of a parameter without one, is skipped and keeps its place in the list.
        ``end_of_step``: later calls belong to the next step. An empty list only counts the step."""
        tensors = _support.tensor_list("tensors", tensors, for_none=self._nothing)
        _ops.nonfinite_guard(
            [tensor.detach() for tensor in tensors],
            self._ring,
            None,
            None,
            self._number(site),
            end_of_step,
        )

    def read(self) -> list[GuardRecord]:
        """Takes the records out of the ring, oldest first. Waits until the GPU has finished all
        work; not for a step that is to be fast, and not during capture."""
        ring = self._ring
        if ring.device.type == "cuda":
            torch.cuda.synchronize(ring.device)
        copy = ring.cpu()
        data = ctypes.string_at(copy.data_ptr(), copy.numel())
        _, written, taken, self.dropped, capacity = _HEADER.unpack_from(data)
        sites = list(self._sites)
        records = [
            self._record(data, number % capacity, sites) for number in range(taken, written)
        ]
        if records:
            _ops.guard_ring_acknowledge_(ring, written)
        return records

    def _number(self, site: str) -> int:
        number = self._sites.get(site)
        if number is None:
            number = len(self._sites)
            if number == MOST_SITES:
                raise RuntimeError(
                    f"site: expected at most {MOST_SITES} different names, got {site!r} as one "
                    "more; use a name for each place of the program"
                )
            self._sites[site] = number
        return number

    def _record(self, data: bytes, slot: int, sites: list[str]) -> GuardRecord:
        step, tensor, index, bits, dtype, site = _RECORD.unpack_from(
            data, _HEADER.size + slot * _RECORD.size
        )
        return GuardRecord(
            step,
            sites[site],
            tensor,
            index,
            _value(bits, _DTYPES[dtype]),
            bits,
            _DTYPES[dtype],
        )
