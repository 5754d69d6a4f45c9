#!/usr/bin/env python3
"""Every usual way to the driver leads through the shim, with every argument where it belongs."""

import os
import unittest

from launch_lab import COUNT, Lab

# An error of cuInit, which the driver of the lab returns on demand, is recorded whatever else is.
TELL = "cuInit(1);"
SUM = "cuLabSum(1, .5, 2, .5, 3, .5, 4, .5, 5, .5, 6, .5, 7, .5, 8, .5, 9, .5)"
OPENED = """
  void* driver = %s;
  const char* why = dlerror();
  if (why) { puts(why); return 1; }
  double (*sum)(int, double, int, double, int, double, int, double, long, double, int, double, int,
                double, float, double, int, double) = dlsym(driver, "cuLabSum");
  if (!sum) { puts(dlerror()); return 1; }
  printf("%%g\\n", sum(1, .5, 2, .5, 3, .5, 4, .5, 5, .5, 6, .5, 7, .5, 8, .5, 9, .5));
  ((int (*)(unsigned))dlsym(driver, "cuInit"))(1);
  return 0;
"""


class WaysIn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab()

    def expect(self, program, out, recorded=True, **more):
        self.assertEqual(self.lab.plain(program, **more).stdout, out, "without cuproof")
        run = self.lab.run(program, **more)
        self.assertEqual((run.returncode, run.stdout), (0, out), run.stderr)
        self.assertEqual(bool(self.lab.recorded()), recorded)

    def test_needed(self):
        program = self.lab.program("needed", f'printf("%g\\n", {SUM}); {TELL} return 0;')
        self.expect(program, "49.5\n")
        self.expect(program, "49.5\n", env={"LD_BIND_NOW": "1"})

    def test_the_first_call_with_a_variable_number_of_doubles(self):
        program = self.lab.program(
            "variable", 'printf("%d\\n", cuLabCount(9, 1., 2., 3., 4., 5., 6., 7., 8., 9.));'
            + TELL + "return 0;")
        self.expect(program, "45\n")

    def test_opened(self):
        for number, flags in enumerate(("RTLD_NOW", "RTLD_LAZY | RTLD_GLOBAL",
                                        "RTLD_NOW | RTLD_DEEPBIND")):
            program = self.lab.program(f"opened{number}", OPENED % f'dlopen("libcuda.so.1", {flags})')
            self.expect(program, "49.5\n")

    def test_looked_up_in_every_object(self):
        program = self.lab.program("default", "cuInit(0); dlerror();" + OPENED % "RTLD_DEFAULT")
        self.expect(program, "49.5\n")

    def test_no_error_of_the_loader_is_left_behind(self):
        program = self.lab.program("error", 'cuInit(0); const char* why = dlerror(); cuInit(1);'
                                   'puts(why ? why : "none"); return 0;')
        self.expect(program, "none\n")

    def test_needed_by_a_library_that_is_opened(self):
        plugin = self.lab.library("plugin.so", "int cuInit(unsigned); int go(void) { return cuInit(41) + 1; }",
                                  self.lab.driver)
        for flags in ("RTLD_NOW", "RTLD_LAZY | RTLD_DEEPBIND"):
            program = self.lab.program("opener", f"""
                int (*go)(void) = dlsym(dlopen("{plugin}", {flags}), "go");
                printf("%d\\n", go()); return 0;""")
            self.expect(program, "42\n")

    def test_each_function_is_itself(self):
        calls = "".join(f"""
            {{ int (*f)(void) = dlsym(driver, "cuLab{i:03}{'x' * (i % 13)}"); wrong += !f || f() != {i}; }}"""
                        for i in range(COUNT))
        program = self.lab.program("all", f"""
            void* driver = dlopen("libcuda.so.1", RTLD_NOW);
            int wrong = 0;{calls}
            wrong += dlsym(driver, "cuLab") != 0;
            {TELL}
            printf("%d wrong\\n", wrong); return 0;""")
        self.expect(program, "0 wrong\n")

    def test_threads_that_race_at_the_first_call(self):
        worker = self.lab.library("race.so", f"""
            #include <pthread.h>
            #include <stdio.h>
            double cuLabSum(int, double, int, double, int, double, int, double, long, double, int, double,
                            int, double, float, double, int, double);
            static pthread_barrier_t barrier;
            static void* work(void* wrong) {{
              pthread_barrier_wait(&barrier);
              if ({SUM} != 49.5) __atomic_add_fetch((int*)wrong, 1, __ATOMIC_RELAXED);
              return 0;
            }}
            int race(void) {{
              pthread_t threads[32];
              int wrong = 0;
              pthread_barrier_init(&barrier, 0, 32);
              for (int i = 0; i < 32; ++i) pthread_create(&threads[i], 0, work, &wrong);
              for (int i = 0; i < 32; ++i) pthread_join(threads[i], 0);
              return wrong;
            }}""", self.lab.driver, "-pthread")
        program = self.lab.program("racer", f"""
            int (*race)(void) = dlsym(dlopen("{worker}", RTLD_NOW), "race");
            printf("%d wrong\\n", race()); {TELL} return 0;""")
        for _ in range(5):
            self.expect(program, "0 wrong\n")

    def test_a_program_that_does_not_call_loads_no_driver(self):
        program = self.lab.program("idle", """
            FILE* maps = fopen("/proc/self/maps", "r");
            char line[4096];
            int seen = 0;
            while (fgets(line, sizeof(line), maps)) seen += strstr(line, "driver/libcuda.so.1") != 0;
            puts(seen ? "loaded" : "not loaded"); return 0;""")
        self.expect(program, "not loaded\n", recorded=False)

    def test_by_absolute_path_it_is_not_seen(self):
        program = self.lab.program("absolute", OPENED % f'dlopen("{self.lab.driver}", RTLD_NOW)')
        self.expect(program, "49.5\n", recorded=False)

    def test_a_driver_with_version_nodes(self):
        lab = Lab()
        lab.write("nodes.map", "LIBCUDA_1 { global: cu*; local: *; };")
        lab.library("driver/libcuda.so.1", "int cuInit(unsigned f) { return (int)f; }",
                    "-Wl,-soname,libcuda.so.1", f"-Wl,--version-script={lab.root / 'nodes.map'}")
        program = lab.program("versioned", """
            int (*f)(unsigned) = dlvsym(dlopen("libcuda.so.1", RTLD_NOW), "cuInit", "LIBCUDA_1");
            printf("%d %d\\n", f ? f(3) : -1, cuInit(4)); return 0;""")
        run = lab.run(program)
        self.assertEqual((run.stdout, run.returncode), ("3 4\n", 0), run.stderr)
        self.assertNotIn("version", run.stderr)  # the loader complains of a missing node
        self.assertTrue(lab.recorded())

    def test_data_that_a_driver_exports_is_left_out(self):
        lab = Lab()
        lab.library("driver/libcuda.so.1", "int cudbgCode[4] = {1}; int cuInit(unsigned f) { return f; }",
                    "-Wl,-soname,libcuda.so.1")
        program = lab.program("reads", """
            void* driver = dlopen("libcuda.so.1", RTLD_NOW);
            int (*init)(unsigned) = dlsym(driver, "cuInit");
            printf("%d %p\\n", init(5), dlsym(driver, "cudbgCode")); return 0;""")
        run = lab.run(program)
        self.assertEqual((run.stdout, run.returncode), ("5 (nil)\n", 0), run.stderr)

    @unittest.skipUnless(os.path.exists("/usr/local/cuda/lib64/stubs/libcuda.so"), "no CUDA toolkit")
    def test_the_names_of_a_toolkits_stub(self):
        lab = Lab()
        lab.driver.unlink()
        lab.driver.symlink_to("/usr/local/cuda/lib64/stubs/libcuda.so")
        run = lab.run("/bin/true")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertGreater(lab.record()["driver"]["symbols"], 500)


if __name__ == "__main__":
    unittest.main()
