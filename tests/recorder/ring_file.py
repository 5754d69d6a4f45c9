"""Reads PID.ring by the description in src/trace/record.h, apart from our own reader."""

import json
import pathlib
import struct

HEADER, RING_HEADER, RECORD = 4096, 4096 + 8 * 8192, 64
LAUNCHES = (1, 2, 3, 4, 5)


class Ring:
    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        (magic, self.version, self.pid, self.parent, self.clock_kind, self.records, self.max_rings,
         stride) = struct.unpack_from("<QIIIIIIQ", data, 0)
        if magic != 0x31474E4952505543:
            raise ValueError(f"{path}: no ring file")
        self.rings, self.functions, self.ring_failures, self.lost_lines = struct.unpack_from(
            "<IIII", data, 40 + 2 * 24)
        self.counts, self.heads, self.owners, self.errors = {}, [], [], 0
        self.launches_by_function, self.last = {}, []
        for ring in range(self.rings):
            at = HEADER + ring * stride
            _, _, owners, _ = struct.unpack_from("<IIII", data, at)
            head, errors = struct.unpack_from("<QQ", data, at + 16)
            self.heads.append(head)
            self.owners.append(owners)
            self.errors += errors
            for op, count in enumerate(struct.unpack_from("<64Q", data, at + 32)):
                if count:
                    self.counts[op] = self.counts.get(op, 0) + count
            for function, count in enumerate(struct.unpack_from("<8192Q", data, at + HEADER)):
                if count:
                    self.launches_by_function[function] = (
                        self.launches_by_function.get(function, 0) + count)
            first = max(0, head - self.records)
            for number in range(first, head):
                record = at + RING_HEADER + number % self.records * RECORD
                sequence, op, flags, clock, result = struct.unpack_from("<IHHQi", data, record)
                if sequence == (number + 1) & 0xFFFFFFFF:
                    self.last.append((op, flags, clock, result))

    def launches(self):
        return sum(self.counts.get(op, 0) for op in LAUNCHES)


def rings(folder):
    return [Ring(path) for path in sorted(pathlib.Path(folder).glob("*.ring"))]


def events(folder, kind=None):
    found = [json.loads(line) for path in pathlib.Path(folder).glob("*.jsonl")
             for line in path.read_text().splitlines()]
    return [event for event in found if kind is None or event["event"] == kind]
