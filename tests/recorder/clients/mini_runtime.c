/* mini_runtime IMAGE KERNEL [COUNT]: finds the driver as NVIDIA's runtime does: libcuda.so.1 by
 * name, one symbol out of it, and everything else in a burst of requests by name, version and
 * flags. The first request is for the empty name with version 0, and some names are asked for more
 * than once. */
#include <dlfcn.h>

#include "client.h"

typedef CUresult (*get_t)(const char*, void**, int, uint64_t, int*);
enum { PER_THREAD = 2 };

static get_t get;

static void* must_find(const char* name, int version, uint64_t flags) {
  void* function = NULL;
  int status = -1;
  const CUresult result = get(name, &function, version, flags, &status);
  if (result || status || !function) {
    fprintf(stderr, "%s at %d: %d, status %d\n", name, version, result, status);
    exit(4);
  }
  return function;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int count = argc > 3 ? atoi(argv[3]) : 10;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver) {
    printf("no driver\n");
    return 0;
  }
  get = (get_t)dlsym(driver, "cuGetProcAddress_v2");
  if (!get) return 4;
  void* nothing = driver;
  int status = -1;
  printf("the empty name: %d\n", get("", &nothing, 0, 0, &status));
  nothing = driver;
  printf("an unknown name: %d status %d\n", get("cuOfTomorrow", &nothing, 13000, 0, &status),
         status);
  /* The same name in two forms, and with both meanings of stream 0. */
  void* one = must_find("cuGetProcAddress", 11030, 0);
  void* two = must_find("cuGetProcAddress", 12000, 0);
  printf("forms differ: %d\n", one != two);
  void* legacy = must_find("cuLaunchKernel", 7000, 0);
  void* per_thread = must_find("cuLaunchKernel", 7000, PER_THREAD);
  printf("streams differ: %d\n", legacy != per_thread);
  printf("as exported: %d\n", legacy == dlsym(driver, "cuLaunchKernel"));
  const void* table = NULL;
  const char uuid[16] = {0};
  CUresult (*export_table)(const void**, const void*);
  *(void**)&export_table = must_find("cuGetExportTable", 3000, 0);
  printf("private table: %d\n", export_table(&table, uuid));

  CUresult (*init)(unsigned);
  CUresult (*retain)(CUcontext*, CUdevice);
  CUresult (*set)(CUcontext);
  CUresult (*load)(CUlibrary*, const void*, int*, void**, unsigned, int*, void**, unsigned);
  CUresult (*kernel_of)(CUkernel*, CUlibrary, const char*);
  CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     unsigned, CUstream, void**, void**);
  CUresult (*launch_ex)(const CUlaunchConfig*, CUfunction, void**, void**);
  *(void**)&init = must_find("cuInit", 2000, 0);
  *(void**)&retain = must_find("cuDevicePrimaryCtxRetain", 7000, 0);
  *(void**)&set = must_find("cuCtxSetCurrent", 4000, 0);
  *(void**)&load = must_find("cuLibraryLoadData", 12000, 0);
  *(void**)&kernel_of = must_find("cuLibraryGetKernel", 12000, 0);
  *(void**)&launch = per_thread;
  *(void**)&launch_ex = must_find("cuLaunchKernelEx", 11060, 0);
  CUcontext context;
  CUlibrary library;
  CUkernel kernel;
  MUST(init(0));
  MUST(retain(&context, 0));
  MUST(set(context));
  MUST(load(&library, read_file(argv[1]), NULL, NULL, 0, NULL, NULL, 0));
  MUST(kernel_of(&kernel, library, argv[2]));
  int failed = 0;
  CUlaunchConfig config = {1, 1, 1, 64, 1, 1, 0, NULL, NULL, 0};
  for (int i = 0; i < count; ++i) {
    failed += launch((CUfunction)kernel, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL) != 0;
    failed += launch_ex(&config, (CUfunction)kernel, NULL, NULL) != 0;
  }
  printf("launches that failed: %d\n", failed);
  return 0;
}
