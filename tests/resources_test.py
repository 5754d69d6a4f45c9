#!/usr/bin/env python3
"""The command `resources`: small cubins made here, and, where there is an nvcc, what ptxas says.

Usage: resources_test.py CUPROOF
"""

import csv
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import small_cubin

CUPROOF = sys.argv.pop(1) if len(sys.argv) > 1 else "cuproof"
SOURCE = Path(__file__).resolve().parent / "data" / "resources.cu"
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


def run(*arguments):
    return subprocess.run([CUPROOF, "resources", *map(str, arguments)], capture_output=True, text=True)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def cubin(self, *kernels, sm=90):
        path = self.folder / "kernels.cubin"
        path.write_bytes(small_cubin.cubin(sm, kernels))
        return path

    def kernels(self, *arguments):
        done = run(*arguments, "--format", "json")
        self.assertEqual(done.stderr, "")
        return [kernel for file in json.loads(done.stdout)["files"] for kernel in file["kernels"]]


class Small(Folder):
    KERNELS = [small_cubin.Kernel("_ZN3lib4scanIfEEvPT_i", 72, 4096, 1),
               small_cubin.Kernel("plain", 32), small_cubin.Kernel("wide", 168)]

    def test_numbers_are_those_of_the_cubin(self):
        first, plain, _ = self.kernels(self.cubin(*self.KERNELS))
        self.assertEqual(first["demangled"], "void lib::scan<float>(float*, int)")
        self.assertEqual((first["registers"], first["static_shared"], first["barriers"]),
                         (72, 4096, 1))
        self.assertEqual(first["spill_basis"], "exact")
        self.assertEqual(plain["occupancy"][0]["limited_by"], ["warps", "blocks", "registers"])

    def test_a_block_that_does_not_launch_is_said(self):
        *_, wide = self.kernels(self.cubin(*self.KERNELS), "--block", "32x16")
        self.assertEqual(wide["occupancy"][0]["blocks_per_sm"], 0)
        self.assertEqual(wide["occupancy"][0]["largest_block"], 384)
        text = run(self.cubin(*self.KERNELS), "--block", "512", "--advice").stdout
        self.assertIn("a block of 512 needs at most 128 registers a thread", text)

    def test_names_choose_mangled_or_not(self):
        path = self.cubin(*self.KERNELS)
        for pattern in ["*lib::scan*", "_ZN3lib*"]:
            self.assertEqual([kernel["registers"] for kernel in self.kernels(path, "--kernel", pattern)],
                             [72])
        self.assertEqual(self.kernels(path, "--kernel", "none*"), [])

    def test_the_most_of_something_comes_first(self):
        path = self.cubin(*self.KERNELS)
        for order, first in [("registers", "wide"), ("shared", "_ZN3lib4scanIfEEvPT_i"),
                             ("name", "_ZN3lib4scanIfEEvPT_i"), ("occupancy", "wide")]:
            kernels = self.kernels(path, "--sort", order, "--top", "1")
            self.assertEqual([kernel["name"] for kernel in kernels], [first], order)

    def test_a_gpu_that_the_file_is_not_for(self):
        self.assertEqual(self.kernels(self.cubin(*self.KERNELS), "--gpu", "sm_80"), [])
        self.assertEqual(len(self.kernels(self.cubin(*self.KERNELS), "--gpu", "H200")), 3)

    def test_csv_has_a_line_for_each(self):
        printed = run(self.cubin(*self.KERNELS), "--format", "csv").stdout
        rows = list(csv.DictReader(io.StringIO(printed)))
        self.assertEqual([row["registers"] for row in rows], ["72", "32", "168"])
        self.assertEqual(rows[0]["demangled"], "void lib::scan<float>(float*, int)")
        self.assertEqual({row["relocatable"] for row in rows}, {"false"})

    def test_a_table_for_people(self):
        text = run(self.cubin(*self.KERNELS)).stdout
        self.assertIn("3 kernels for 1 architecture; up to 168 registers", text)
        self.assertRegex(text, r"lib::scan<float> +sm_90 +72 +- +")


class Bad(Folder):
    def test_arguments(self):
        path = self.cubin(small_cubin.Kernel("plain", 32))
        for arguments in [["--block", "2000"], ["--block", "0"], ["--block", "8x"], ["--block", "x8"],
                          ["--block", "1x2x3x4"], ["--gpu", "sm_9000x"], ["--top", "0"],
                          ["--sort", "beauty"], ["--dynamic-smem", "-1"]]:
            done = run(path, *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_unknown_attributes_are_passed_over(self):
        unknown = bytes([4, 0xEE]) + small_cubin.number(3, 2) + b"abc" + bytes([1, 0xEF, 0, 0])
        kernel, = self.kernels(self.cubin(small_cubin.Kernel("k", 40, 0, 2, unknown)))
        self.assertEqual((kernel["registers"], kernel["barriers"], kernel["damaged"]), (40, 2, False))

    def test_damaged_attributes_are_said_and_tell_nothing(self):
        for damage in [b"\x09\x09\x00\x00", b"\x04\x17\xff\xff", b"\x03"]:
            done = run(self.cubin(small_cubin.Kernel("k", 40, 0, 2, damage)), "--format", "json")
            self.assertEqual(done.returncode, 2)
            self.assertIn("attributes of a kernel (k, sm_90)", done.stderr)
            kernel, = json.loads(done.stdout)["files"][0]["kernels"]
            self.assertEqual((kernel["registers"], kernel["barriers"], kernel["spill_basis"]),
                             (40, None, "unknown"))

    def test_an_annotation_outside_of_the_code(self):
        outside = bytes([4, 0x55]) + small_cubin.number(8, 2) + small_cubin.number(1, 4)
        kernel, = self.kernels(self.cubin(
            small_cubin.Kernel("k", 40, 0, 0, outside + small_cubin.number(1 << 20, 4))))
        self.assertEqual((kernel["spill_stores"], kernel["spill_basis"]), (None, "unknown"))

    def test_every_cut_of_a_cubin_ends_in_a_line_or_numbers(self):
        whole = small_cubin.cubin(90, Small.KERNELS)
        path = self.folder / "cut.cubin"
        for size in range(0, len(whole), 97):
            path.write_bytes(whole[:size])
            self.assertIn(run(path).returncode, (0, 2), size)

    def test_names_that_would_write_to_the_terminal(self):
        text = run(self.cubin(small_cubin.Kernel("k\x1b[31m\n,\"", 32)), "-v").stdout
        self.assertNotIn("\x1b", text)
        printed = run(self.cubin(small_cubin.Kernel("k\x1b\n,\"", 32)), "--format", "csv").stdout
        self.assertEqual(len(list(csv.reader(io.StringIO(printed)))), 2)


def ptxas_words(log):
    """Of each kernel: registers, barriers, stack, spills, shared memory, banks of constants."""
    kernels, current = {}, None
    for line in log.splitlines():
        if entry := re.search(r"Compiling entry function '(\w+)' for", line):
            current = kernels.setdefault(entry[1], {"barriers": 0, "smem": 0, "cmem": {}})
        elif function := re.search(r"Function properties for (\w+)", line):
            own = function[1] in kernels
        elif spills := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, "
                                 r"(\d+) bytes spill loads", line):
            if own:
                current["stack"], current["stores"], current["loads"] = map(int, spills.groups())
        elif used := re.search(r"Used (\d+) registers", line):
            current["registers"] = int(used[1])
            for word, pattern in [("barriers", r"used (\d+) barriers"), ("smem", r"(\d+) bytes smem")]:
                if number := re.search(pattern, line):
                    current[word] = int(number[1])
            current["cmem"] = {bank: int(size) for size, bank
                               in re.findall(r"(\d+) bytes cmem\[(\d+)\]", line)}
    return kernels


@unittest.skipUnless(NVCC, "no nvcc")
class Compiled(Folder):
    def build(self, *options):
        path = self.folder / "built"
        done = subprocess.run([NVCC, "-Xptxas", "-v", *options, SOURCE, "-o", path],
                              capture_output=True, text=True, check=True)
        return path, ptxas_words(done.stderr)

    def test_numbers_are_those_that_ptxas_prints(self):
        for arch in ["sm_75", "sm_80", "sm_90", "sm_120"]:
            path, words = self.build("-cubin", f"-arch={arch}")
            kernels = {kernel["name"]: kernel for kernel in self.kernels(path) if kernel["entry"]}
            self.assertEqual(set(kernels), set(words))
            for name, said in words.items():
                kernel = kernels[name]
                told = {"registers": kernel["registers"], "barriers": kernel["barriers"],
                        "stores": kernel["spill_stores"], "loads": kernel["spill_loads"],
                        "smem": kernel["static_shared"],
                        "cmem": {bank: kernel["constants"].get(bank) for bank in said["cmem"]},
                        "stack": kernel["stack_frame"]}
                if kernel["indirect_calls"]:  # docs/formats.md: ptxas prints 0 before the link
                    told["stack"] = said["stack"]
                self.assertEqual(told, said, f"{arch} {name}")
            self.assertGreater(kernels["spills_float"]["spill_stores"], 0)
            self.assertTrue(kernels["through_pointer"]["indirect_calls"])
            self.assertEqual(kernels["bounds"]["max_threads"], [256, 1, 1])
            self.assertEqual(kernels["large_parameter"]["parameters"][0]["size"], 2000)

    def test_the_source_line_is_that_of_the_kernel(self):
        lines = SOURCE.read_text().splitlines()
        # From sm_100 on two sections of such a cubin share the text of the PTX.
        for arch in ["sm_90", "sm_100", "sm_120"]:
            path, _ = self.build("-cubin", f"-arch={arch}", "-lineinfo")
            entries = [kernel for kernel in self.kernels(path) if kernel["entry"]]
            self.assertGreater(len(entries), 3)
            for kernel in entries:
                self.assertEqual(Path(kernel["source"]["file"]).name, SOURCE.name)
                self.assertIn(kernel["name"], lines[kernel["source"]["line"] - 1])

    def test_only_images_for_the_gpu_are_read(self):
        path, _ = self.build("-fatbin", "-gencode=arch=compute_80,code=sm_80",
                             "-gencode=arch=compute_90,code=sm_90")
        self.assertEqual({kernel["arch"] for kernel in self.kernels(path, "--gpu", "sm_90")},
                         {"sm_90"})
        ampere = self.kernels(path, "--gpu", "sm_86")
        self.assertEqual({kernel["arch"] for kernel in ampere}, {"sm_80"})
        self.assertEqual({answer["gpu"] for answer in ampere[0]["occupancy"]}, {"sm_86"})


if __name__ == "__main__":
    unittest.main()
