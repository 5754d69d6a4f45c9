#!/usr/bin/env python3
"""Errors that small programs make on the modelled driver are explained with call, kernel and number.

    errors_test.py CUPROOF
"""

import re
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import clients  # noqa: E402

CUPROOF = sys.argv.pop(1)


class Errors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.lab = clients.Lab(CUPROOF, cls.temporary.name)
        with zipfile.ZipFile(clients.ROOT / "tests/fixtures/gpu_images.zip") as z:
            z.extractall(cls.lab.folder / "images")
        cls.hungry = cls.lab.write("hungry.ptx", clients.ptx("hungry", "registers 168"))
        cls.bounded = cls.lab.write("bounded.ptx", clients.ptx("bounded", "registers 32 threads 256"))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def explained(self, scenario, image, kernel, **environment):
        program = self.lab.client("launch_errors")
        plain = self.lab.plain(program, scenario, image, kernel, **environment)
        out, code, folder = self.lab.record(program, scenario, image, kernel, **environment)
        self.assertEqual((out, code), (plain.stdout, plain.returncode), "the program saw something else")
        self.report = self.lab.json(folder)
        return [error for error in self.report["errors"] if error["severity"] != "note"]

    def one(self, *arguments, **environment):
        errors = self.explained(*arguments, **environment)
        self.assertEqual(len(errors), 1, errors)
        return errors[0]

    def assert_says(self, error, finding, api, result, *texts):
        self.assertEqual((error["id"], error["api"], error["result"]), (finding, api, result), error)
        whole = "\n".join([error["message"], *error["evidence"], error["fix"] or ""])
        for text in texts:
            self.assertIn(text, whole)

    def test_what_works_is_no_error(self):
        self.assertEqual(self.explained("works", self.hungry, "hungry"), [])
        self.assertEqual(self.report["kernels"], [{"name": "hungry", "launches": 5}])

    def test_too_many_registers(self):
        for scenario, api in (("registers", "cuLaunchKernel"), ("registers-ex", "cuLaunchKernelEx")):
            error = self.one(scenario, self.hungry, "hungry")
            self.assert_says(error, "CP502", api, 701, "hungry", "168 registers", "1024 threads", "172,032", "65,536",
                             "384 threads", "maxrregcount=64", "CU_JIT_MAX_REGISTERS=64")
            self.assertEqual(len(error["driver_words"]), 1)
            self.assertIn("701", error["driver_words"][0])

    def test_a_graph_node_with_too_many_registers(self):
        error = self.one("graph", self.hungry, "hungry")
        self.assertIn(error["api"], ("cuGraphInstantiateWithFlags", "cuGraphInstantiate"))
        self.assert_says(error, "CP502", error["api"], 701, "kernel node 2 of 2", "hungry", "168 registers", "384")

    def test_a_graph_that_is_refused_when_it_is_launched(self):
        error = self.one("graph", self.hungry, "hungry", CUPROOF_MODEL_GRAPH_CHECK="launch")
        self.assert_says(error, "CP502", "cuGraphLaunch", 701, "kernel node 2 of 2", "hungry", "384")

    def test_numbers_out_of_range(self):
        self.assert_says(self.one("grid", self.hungry, "hungry"), "CP503", "cuLaunchKernel", 1, "grid.y is 70,000",
                         "65,535")
        self.assert_says(self.one("block", self.hungry, "hungry"), "CP503", "cuLaunchKernel", 1, "2,048 threads",
                         "1,024")
        self.assert_says(self.one("shared", self.hungry, "hungry"), "CP503", "cuLaunchKernel", 1,
                         "100,000 bytes of dynamic shared memory", "49,152 is the most without opt-in",
                         "cuFuncSetAttribute", "232,448")
        self.assert_says(self.one("registers", self.bounded, "bounded"), "CP503", "cuLaunchKernel", 1,
                         "compiled for 256")

    def test_shared_memory_that_no_opt_in_gives(self):
        errors = self.explained("shared-opt-in", self.hungry, "hungry")
        launch = [error for error in errors if error["api"] == "cuLaunchKernel"]
        self.assertEqual(len(launch), 1, errors)
        self.assert_says(launch[0], "CP503", "cuLaunchKernel", 1, "300,000 bytes", "can have 232,448")

    def test_a_sticky_error_blames_no_messenger(self):
        error = self.one("sticky", self.hungry, "hungry", CUPROOF_MODEL_FAULT="cuLaunchKernel:2~700")
        self.assert_says(error, "CP504", "cuStreamSynchronize", 700, "hungry", "2 launched and not known to be complete",
                         "96 x 1 x 1", "only reports it")
        self.assertEqual(error["count"], 2, "the later call returned the same")

    def test_scripted_faults(self):
        error = self.one("works", self.hungry, "hungry", CUPROOF_MODEL_FAULT="cuLaunchKernel:3=720")
        self.assert_says(error, "CP505", "cuLaunchKernel", 720, "hungry", "cuOccupancyMaxActiveBlocks")
        error = self.one("works", self.hungry, "hungry", CUPROOF_MODEL_FAULT="cuStreamCreate:2=2,cuLaunchKernel:1=2")
        self.assert_says(error, "CP506", "cuLaunchKernel", 2, "hungry")

    def test_images_that_are_refused(self):
        images = {
            "cubin/sm_80-cuda13.0.cubin": (209, "CP101", "sm_80"),
            "fatbin/sass80.fatbin": (209, "CP101", "sm_80"),
            "fatbin/ptx90-isa9.1.fatbin": (222, "CP102", "9.1"),
            "fatbin/ptx100a.fatbin": (209, "CP101", "compute_100a"),
            "damaged/fatbin-zstd-cut.fatbin": (200, "CP107", ""),
        }
        program = self.lab.client("image_errors")
        for name, (result, rule, word) in images.items():
            _, _, folder = self.lab.record(program, self.lab.folder / "images" / name, options=["--dump-images"])
            errors = [e for e in self.lab.json(folder)["errors"] if e["severity"] == "error"]
            self.assertEqual({e["api"] for e in errors}, {"cuModuleLoadData", "cuLibraryGetKernel"}, (name, errors))
            for error in errors:
                self.assertEqual((error["id"], error["result"]), ("CP501", result), name)
                whole = "\n".join([error["message"], *error["evidence"]])
                self.assertIn(word, whole, name)
                self.assertIn(rule, whole, name)

    def test_text_for_people(self):
        _, _, folder = self.lab.record(self.lab.client("launch_errors"), "registers", self.hungry, "hungry")
        text = self.lab.report(folder)
        self.assertIn("error[CP502]", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100 + len(str(self.lab.folder)))
        for title in ("Processes", "Kernels", "Images loaded", "Lost, or not seen"):
            self.assertRegex(text, re.compile(f"^{title}", re.M))


if __name__ == "__main__":
    unittest.main()
