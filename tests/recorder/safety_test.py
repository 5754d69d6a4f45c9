#!/usr/bin/env python3
"""Whatever a program does, it runs as without the recorder, and what was recorded can be read.

Usage: safety_test.py CUPROOF

CUPROOF_MANY_RECORDS sets how many launches the long loop makes (20,000,000); 1,000,000,000 takes half a
minute.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from launch_lab import CUPROOF, Lab  # noqa: E402
from ring_file import events, rings  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INSTANT_DRIVER = (ROOT / "tests/driver_model/instant_driver.c").read_text()
LAUNCHED = "return CUDA_SUCCESS;\n}\nCUresult cuLaunchKernelEx"  # the end of its cuLaunchKernel

PRELUDE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
typedef int (*launch_t)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                        void**, void**);
static launch_t launch;
static void* function;
static void start(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) exit(9);
  void *module, *context;
  ((int (*)(unsigned))dlsym(driver, "cuInit"))(0);
  ((int (*)(void**, unsigned, int))dlsym(driver, "cuCtxCreate_v2"))(&context, 0, 0);
  ((int (*)(void**, const void*))dlsym(driver, "cuModuleLoadData"))(&module, "//\\n.version 8.0\\n");
  ((int (*)(void**, void*, const char*))dlsym(driver, "cuModuleGetFunction"))(&function, module, "kernel");
  launch = (launch_t)dlsym(driver, "cuLaunchKernel");
}
static void loop(long count) {
  for (long i = 0; i < count; ++i) launch(function, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
}
"""


class Safety(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.install_driver(INSTANT_DRIVER)

    def install_driver(self, source, *options):
        path = self.lab.root / "driver.c"
        path.write_text(source)
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", *options, f"-I{ROOT}/tests/driver_model",
                        "-Wl,-soname,libcuda.so.1", "-o", self.lab.driver, path], check=True)

    def program(self, body, functions=""):
        return self.lab._compile("program", f"{PRELUDE}{functions}\nint main(void) {{\n{body}\n}}\n",
                                 ["-ldl", "-pthread"])

    def record(self, program, *options, **named):
        plain = self.lab.plain(program)
        run = self.lab.run(program, options=("--quiet", *options), **named)
        self.assertEqual((run.returncode, run.stdout), (plain.returncode if plain.returncode >= 0 else
                                                        128 - plain.returncode, plain.stdout), run.stderr)
        return rings(self.lab.root / "run")

    def test_a_program_that_is_killed_leaves_every_launch(self):
        program = self.program("start(); loop(100000); kill(getpid(), SIGKILL); return 0;")
        ring, = self.record(program)
        self.assertEqual(ring.launches(), 100000)
        self.assertEqual(len(ring.last), ring.records)
        report = subprocess.run([CUPROOF, "report", self.lab.root / "run", "--format", "json"],
                                capture_output=True, text=True)
        self.assertEqual(report.returncode, 0, report.stderr)

    def test_a_call_that_does_not_return_is_there_without_a_result(self):
        # Killed inside the driver: the last record has no result.
        self.install_driver(INSTANT_DRIVER.replace(
            LAUNCHED, f"static int n; if (++n == 5) kill(getpid(), SIGKILL);\n  {LAUNCHED}"),
            "-w", "-include", "signal.h", "-include", "unistd.h")
        ring, = self.record(self.program("start(); loop(10); return 0;"))
        self.assertEqual(ring.launches(), 5)
        self.assertEqual([result for op, _, _, result in ring.last if op == 1], [0, 0, 0, 0, -2**31])

    def test_exit_without_handlers(self):
        ring, = self.record(self.program("start(); loop(777); _exit(3);"))
        self.assertEqual(ring.launches(), 777)

    def test_a_forked_child_is_a_process_of_its_own(self):
        program = self.program("""
            start(); loop(10);
            for (int i = 0; i < 3; ++i) {
              pid_t child = fork();
              if (child == 0) { loop(1000 + i); _exit(0); }
              waitpid(child, NULL, 0);
            }
            loop(5); return 0;""")
        found = self.record(program)
        self.assertEqual(sorted(ring.launches() for ring in found), [15, 1000, 1001, 1002])
        self.assertEqual(len(events(self.lab.root / "run", "fork")), 3)

    def test_a_child_by_bare_clone_is_one_too(self):
        program = self.program("""
            start(); loop(10);
            pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
            if (child == 0) { loop(20); syscall(SYS_exit_group, 0); }
            waitpid(child, NULL, 0); return 0;""")
        self.assertEqual(sorted(ring.launches() for ring in self.record(program)), [10, 20])

    def test_a_child_that_does_not_call_the_driver_costs_nothing(self):
        program = self.program("""
            start(); loop(10);
            if (fork() == 0) _exit(0);
            wait(NULL); return 0;""")
        self.assertEqual(len(self.record(program)), 1)

    def test_many_threads_at_once_are_counted_exactly(self):
        threads = "static void* work(void* none) { loop(20000); return none; }"
        program = self.program("""
            start();
            pthread_t thread[64];
            for (int i = 0; i < 64; ++i) pthread_create(&thread[i], NULL, work, NULL);
            for (int i = 0; i < 64; ++i) pthread_join(thread[i], NULL);
            return 0;""", threads)
        for options in ((), ("--rings", "4"), ("--ring-records", "64")):
            ring, = self.record(program, *options)
            self.assertEqual(ring.launches(), 64 * 20000, options)
            self.assertEqual(sum(ring.launches_by_function.values()), 64 * 20000)
            if "--rings" in options:
                # Which threads shared ring 0 depends on when they came; the file stays small.
                self.assertLessEqual(ring.rings, 5)

    def test_threads_that_come_and_go_use_the_same_rings(self):
        threads = "static void* work(void* none) { loop(3); return none; }"
        program = self.program("""
            start();
            for (int i = 0; i < 3000; ++i) {
              pthread_t thread;
              pthread_create(&thread, NULL, work, NULL);
              pthread_join(thread, NULL);
            }
            return 0;""", threads)
        ring, = self.record(program)
        self.assertEqual(ring.launches(), 9000)
        self.assertLessEqual(ring.rings, 4)
        self.assertGreaterEqual(sum(ring.owners), 3001)

    def test_a_great_many_records(self):
        count = int(os.environ.get("CUPROOF_MANY_RECORDS", 20_000_000))
        ring, = self.record(self.program(f"start(); loop({count}L); return 0;"))
        self.assertEqual(ring.launches(), count)
        self.assertEqual(len(ring.last), ring.records)
        clocks = [clock for _, _, clock, _ in ring.last]
        self.assertEqual(clocks, sorted(clocks))

    def test_errors_in_a_loop_do_not_fill_the_disk(self):
        self.install_driver(INSTANT_DRIVER.replace(LAUNCHED, LAUNCHED.replace("CUDA_SUCCESS", "1", 1)))
        ring, = self.record(self.program("start(); loop(1000000); return 0;"))
        self.assertEqual(ring.errors, 1000000)
        lines = events(self.lab.root / "run", "error")
        self.assertEqual([line.get("count", 1) for line in lines], [2**i for i in range(20)])

    def test_images_that_fail_are_told_apart(self):
        self.install_driver(INSTANT_DRIVER.replace("  *module = HANDLE;\n  return CUDA_SUCCESS;",
                                                   "  *module = HANDLE;\n  return 200;"))
        self.record(self.program("""
            void* driver = dlopen("libcuda.so.1", RTLD_NOW);
            int (*load)(void**, const void*) = (int (*)(void**, const void*))dlsym(driver, "cuModuleLoadData");
            for (int round = 0; round < 3; ++round)
              for (int i = 0; i < 5; ++i) {
                char* image = malloc(100); void* module;
                snprintf(image, 100, "//\\n.version 8.0 // %d\\n", i);
                load(&module, image); free(image);
              }
            return 0;"""))
        folder = self.lab.root / "run"
        hashes = {event["id"]: event["hash"] for event in events(folder, "image")}
        lines = sorted((hashes[event["image"]], event.get("count", 1)) for event in events(folder, "error"))
        self.assertEqual(len({name for name, _ in lines}), 5)
        self.assertEqual([count for _, count in lines], [1, 2] * 5)

    def test_a_bound_on_the_events_holds(self):
        program = self.program("""
            start();
            void* driver = dlopen("libcuda.so.1", RTLD_NOW);
            int (*create)(void**, unsigned) = (int (*)(void**, unsigned))dlsym(driver, "cuStreamCreate");
            void* stream;
            for (int i = 0; i < 20000; ++i) create(&stream, 1);
            loop(7); return 0;""")
        ring, = self.record(program, "--max-events", "100k")
        self.assertEqual(ring.launches(), 7)
        size = sum(path.stat().st_size for path in (self.lab.root / "run").glob("*.jsonl"))
        self.assertLessEqual(size, 100 * 1024)
        self.assertGreater(ring.lost_lines, 10000)

    def test_descriptors_folders_and_limits_are_the_programs(self):
        program = self.program("""
            start(); loop(1);
            for (int i = 3; i < 1000; ++i) close(i);
            int file = open("mine", O_RDWR | O_CREAT | O_TRUNC, 0600);
            if (chdir("/") != 0) return 8;
            struct rlimit few = {4, 4};
            setrlimit(RLIMIT_NOFILE, &few);
            loop(1000);
            printf("%d %ld\\n", file, (long)lseek(file, 0, SEEK_END)); return 0;""",
                               "#include <fcntl.h>\n")
        ring, = self.record(program)
        self.assertEqual(ring.launches(), 1001)

    def test_errno_is_left_as_it_was(self):
        threads = "static void* work(void* none) { errno = 77; loop(1); if (errno != 77) exit(5); return none; }"
        program = self.program("""
            start(); errno = 42; loop(3); if (errno != 42) return 4;
            pthread_t thread; pthread_create(&thread, NULL, work, NULL); pthread_join(thread, NULL);
            printf("kept\\n"); return 0;""", threads)
        ring, = self.record(program)
        self.assertEqual(ring.launches(), 4)

    def test_a_folder_that_goes_away_or_may_not_be_written(self):
        program = self.program("""
            start(); loop(1);
            if (system("rm -rf run") != 0) return 6;
            loop(1000); pthread_t thread;
            printf("done\\n"); return 0;""")
        plain = self.lab.plain(program)
        run = self.lab.run(program, options=("--quiet",))
        self.assertEqual((run.returncode, run.stdout), (plain.returncode, plain.stdout))
        self.assertEqual(plain.returncode, 0)

    def test_a_driver_replaced_while_the_program_starts(self):
        # Without a function that the shim has: it answers CUDA_ERROR_NOT_FOUND, and nothing crashes.
        small = self.lab.root / "small.so"
        source = self.lab.root / "small.c"
        source.write_text("int cuInit(unsigned flags) { return (int)flags; }\n")
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", small, source],
                       check=True)
        program = self.program(f"""
            if (getenv("LD_PRELOAD") && rename("{small}", "{self.lab.driver}") != 0) return 7;
            void* driver = dlopen("libcuda.so.1", RTLD_NOW);
            int (*init)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
            launch = (launch_t)dlsym(driver, "cuLaunchKernel");
            printf("%d %d\\n", init(0), launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL)); return 0;""")
        run = self.lab.run(program, options=("--quiet",))
        self.assertEqual((run.returncode, run.stdout), (0, "0 500\n"), run.stderr)
        driver, = events(self.lab.root / "run", "driver")
        self.assertGreater(driver["absent"], 5)

    def test_null_and_wild_pointers_reach_the_driver(self):
        program = self.program("""
            start();
            void* driver = dlopen("libcuda.so.1", RTLD_NOW);
            int (*load)(void**, const void*) = (int (*)(void**, const void*))dlsym(driver, "cuModuleLoadData");
            void* module;
            const void* wild[] = {NULL, (void*)16, (void*)-4096, (void*)main, &module};
            for (int i = 0; i < 5; ++i) printf("%d ", load(&module, wild[i]));
            char* page = (char*)sbrk(0);
            printf("%d\\n", load(&module, page - 3)); return 0;""")
        self.record(program)
        self.assertEqual(len(events(self.lab.root / "run", "image")), 7)


if __name__ == "__main__":
    unittest.main()
