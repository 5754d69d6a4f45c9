#!/usr/bin/env python3
"""data/torch_symbols.bin and the tables beside it say the same, and names keep their twins."""

import csv
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools/torch_history"))
import abi_twin  # noqa: E402
import symbol_file  # noqa: E402

BYTES = (ROOT / "data/torch_symbols.bin").read_bytes()


def table(name):
    with open(ROOT / "data" / name) as f:
        return list(csv.DictReader((line for line in f if not line.startswith("#")), delimiter="\t"))


FILE = symbol_file.History(BYTES)


class TorchHistory(unittest.TestCase):
    def test_is_whole_and_small(self):
        self.assertEqual(BYTES[:4], b"CPTS")
        self.assertEqual(FILE.end, len(BYTES))
        self.assertEqual(len(FILE.found), FILE.symbols)
        self.assertLess(len(BYTES), 1_000_000)

    def test_has_the_releases_of_the_table(self):
        rows = table("torch_releases.tsv")
        self.assertGreaterEqual(len(rows), 15)
        for row, release in zip(rows, FILE.releases, strict=True):
            self.assertEqual(row["version"], ".".join(map(str, release[:3])))
            self.assertEqual(row["string_abi"], {1: "old", 2: "new"}[release[3]])
            self.assertEqual(row["cuda"], f"{release[4]}.{release[5]}")
            self.assertRegex(row["sha256"], "^[0-9a-f]{64}$")
        minors = [row["version"].rsplit(".", 1)[0] for row in rows]
        self.assertEqual(minors, [f"2.{i}" for i in range(1, len(minors) + 1)])

    def test_shims_agree_with_the_symbols(self):
        versions = [row["version"].rsplit(".", 1)[0] for row in table("torch_releases.tsv")]
        rows = table("torch_shims.tsv")
        self.assertGreater(len(rows), 400)
        for row in rows:
            releases = FILE.releases_of(row["name"])
            self.assertEqual(versions[releases[0]], row["first_torch"], row["name"])
            last = versions[releases[-1]]
            self.assertEqual(row["last_torch"], "" if last == versions[-1] else last, row["name"])
        floors = {row["name"]: row["first_torch"] for row in rows}
        # As torch's own list of shim versions has them.
        self.assertEqual(floors["torch_call_dispatcher"], "2.10")
        self.assertEqual(floors["torch_from_blob"], "2.11")

    def test_twins(self):
        pairs = [("_ZN3c105ErrorC2ENS_14SourceLocationESs",
                  "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"),
                 ("_ZN5torch3jit17parseSchemaOrNameERKSsb",
                  "_ZN5torch3jit17parseSchemaOrNameERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEb"),
                 ("_ZN4c10d8TCPStoreC1ESsRKNS_15TCPStoreOptionsE",
                  "_ZN4c10d8TCPStoreC1ENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEERKNS_15TCPStoreOptionsE")]
        for old, new in pairs:
            self.assertEqual(abi_twin.twin(old, "new"), new)
            self.assertEqual(abi_twin.twin(new, "old"), old)
        self.assertEqual(abi_twin.twin("_ZN3c1014DeviceTypeNameB5cxx11ENS_10DeviceTypeEb", "old"),
                         "_ZN3c1014DeviceTypeNameENS_10DeviceTypeEb")
        plain = "_ZN3c104cuda29c10_cuda_check_implementationEiPKcS2_jb"
        self.assertEqual(abi_twin.twin(plain, "new"), plain)
        self.assertIsNone(abi_twin.twin("_ZN1aIZNS_1bEvEUlvE_SsE1cEv", "new"))

    def test_both_spellings_of_a_name_are_of_the_same_releases(self):
        old = "_ZN3c105ErrorC2ENS_14SourceLocationESs"
        self.assertEqual(FILE.releases_of(old), FILE.releases_of(abi_twin.twin(old, "new")))
        self.assertEqual(FILE.kind_of(old)[0], 1)

    def test_no_name_is_written_out(self):
        self.assertIsNone(re.search(rb"_ZN|aoti_|torch_", BYTES))


if __name__ == "__main__":
    # The command to test is of no use here.
    unittest.main(argv=sys.argv[:1])
