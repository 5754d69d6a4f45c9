/* Load each image into the CUDA driver and say what the driver did with it.
 *
 * Usage: oracle [-j JOBS] [-t SECONDS] ROOT [FILE...]
 *
 * FILE is relative to ROOT; without any, every file below ROOT is taken. One
 * JSON line per image goes to stdout, after one line about the device.
 *
 * Each image is tried in a child process of its own, so that a driver crash, a
 * hang or an error that sticks to the context stays with the image that caused
 * it. Two ways in are tried: cuModuleLoadData, which JIT users call, and
 * cuLibraryLoadData, which the CUDA runtime calls. Each then launches the
 * kernel `probe`, whose number tells which code ran.
 *
 * The driver is opened with dlopen and the few prototypes are declared here:
 * no CUDA header is needed. The image is handed over with 64 KiB of zeros
 * behind it, because cuModuleLoadData takes no size: what the driver reads past
 * the end of a truncated image is then the same in every run. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOT_DONE = -1, UNTOUCHED = 0x5a5a5a5a, TAIL = 64 * 1024 };

/* CUjit_option */
enum { JIT_ERROR_LOG = 5, JIT_ERROR_LOG_SIZE = 6 };
/* CUfunction_attribute */
enum { FUNC_PTX_VERSION = 5, FUNC_BINARY_VERSION = 6 };
/* CUdevice_attribute */
enum { DEV_MAJOR = 75, DEV_MINOR = 76 };

typedef int Result;
typedef void* Handle;
typedef uint64_t DevicePtr;
typedef void (*LogCallback)(void* data, int level, char* message, size_t length);

static struct {
  Result (*init)(unsigned);
  Result (*driverVersion)(int*);
  Result (*deviceGet)(int*, int);
  Result (*deviceName)(char*, int, int);
  Result (*deviceAttribute)(int*, int, int);
  Result (*primaryRetain)(Handle*, int);
  Result (*setCurrent)(Handle);
  Result (*memAlloc)(DevicePtr*, size_t);
  Result (*memset32)(DevicePtr, unsigned, size_t);
  Result (*copyToHost)(void*, DevicePtr, size_t);
  Result (*moduleLoad)(Handle*, const void*);
  Result (*moduleLoadEx)(Handle*, const void*, unsigned, int*, void**);
  Result (*moduleFunction)(Handle*, Handle, const char*);
  Result (*libraryLoad)(Handle*, const void*, int*, void**, unsigned, int*, void**, unsigned);
  Result (*libraryKernel)(Handle*, Handle, const char*);
  Result (*kernelFunction)(Handle*, Handle);
  Result (*functionAttribute)(int*, int, Handle);
  Result (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   Handle, void**, void**);
  Result (*synchronize)(void);
  Result (*errorName)(Result, const char**);
  Result (*logsRegister)(LogCallback, void*, Handle*);
} cu;

/* What one way in gave. It lives in memory shared with the parent and is filled
 * step by step, so that it can be read after the child died in the middle. */
struct Try {
  int started, finished;
  Result load, kernel, function, launch, sync, loadEx;
  uint32_t value;
  int hasValue, ptxVersion, binaryVersion;
  double loadMs;
  char step[16];
  char jitLog[2048];
  char driverLog[2048];
  int signal, exitStatus;
};

struct Record {
  Result init, context;
  struct Try module, library;
  int children, done;
};

static struct Try* listening;

static void fail(const char* what) {
  fprintf(stderr, "oracle: %s: %s\n", what, strerror(errno));
  exit(2);
}

static void* find(void* lib, const char* name, int needed) {
  void* f = dlsym(lib, name);
  if (!f && needed) {
    fprintf(stderr, "oracle: the driver has no %s\n", name);
    _exit(2);
  }
  return f;
}

static void openDriver(void) {
  void* lib = dlopen("libcuda.so.1", RTLD_NOW);
  if (!lib) {
    fprintf(stderr, "oracle: %s\n", dlerror());
    _exit(2);
  }
#define BIND(member, name) *(void**)&cu.member = find(lib, name, 1)
  BIND(init, "cuInit");
  BIND(driverVersion, "cuDriverGetVersion");
  BIND(deviceGet, "cuDeviceGet");
  BIND(deviceName, "cuDeviceGetName");
  BIND(deviceAttribute, "cuDeviceGetAttribute");
  BIND(primaryRetain, "cuDevicePrimaryCtxRetain");
  BIND(setCurrent, "cuCtxSetCurrent");
  BIND(memAlloc, "cuMemAlloc_v2");
  BIND(memset32, "cuMemsetD32_v2");
  BIND(copyToHost, "cuMemcpyDtoH_v2");
  BIND(moduleLoad, "cuModuleLoadData");
  BIND(moduleLoadEx, "cuModuleLoadDataEx");
  BIND(moduleFunction, "cuModuleGetFunction");
  BIND(libraryLoad, "cuLibraryLoadData");
  BIND(libraryKernel, "cuLibraryGetKernel");
  BIND(kernelFunction, "cuKernelGetFunction");
  BIND(functionAttribute, "cuFuncGetAttribute");
  BIND(launch, "cuLaunchKernel");
  BIND(synchronize, "cuCtxSynchronize");
  BIND(errorName, "cuGetErrorName");
#undef BIND
  /* Newer drivers explain each failure in words through this one. */
  *(void**)&cu.logsRegister = find(lib, "cuLogsRegisterCallback", 0);
}

static void onLog(void* data, int level, char* message, size_t length) {
  (void)data;
  (void)level;
  if (!listening || !message) return;
  size_t have = strlen(listening->driverLog), room = sizeof listening->driverLog - have - 2;
  length = strnlen(message, length);
  while (length && message[length - 1] == '\n') length--;
  if (length > room) length = room;
  memcpy(listening->driverLog + have, message, length);
  memcpy(listening->driverLog + have + length, "\n", 2);
}

static double nowMs(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void step(struct Try* t, const char* name) { snprintf(t->step, sizeof t->step, "%s", name); }

/* Launch the function and read its number back. */
static void launch(struct Try* t, Handle function) {
  cu.functionAttribute(&t->ptxVersion, FUNC_PTX_VERSION, function);
  cu.functionAttribute(&t->binaryVersion, FUNC_BINARY_VERSION, function);
  DevicePtr out = 0;
  step(t, "memory");
  if ((t->launch = cu.memAlloc(&out, 256)) || (t->launch = cu.memset32(out, UNTOUCHED, 64))) return;
  void* arguments[] = {&out};
  step(t, "launch");
  t->launch = cu.launch(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL);
  if (t->launch) return;
  step(t, "sync");
  t->sync = cu.synchronize();
  if (t->sync) return;
  step(t, "value");
  t->hasValue = cu.copyToHost(&t->value, out, sizeof t->value) == 0;
}

static void tryModule(struct Try* t, const void* image) {
  Handle module = NULL, function = NULL;
  step(t, "load");
  double start = nowMs();
  t->load = cu.moduleLoad(&module, image);
  t->loadMs = nowMs() - start;
  if (t->load) {
    /* Once more, only for the words of the driver's JIT compiler. */
    listening = NULL;
    int options[] = {JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE};
    void* values[] = {t->jitLog, (void*)(uintptr_t)(sizeof t->jitLog - 1)};
    step(t, "load again");
    t->loadEx = cu.moduleLoadEx(&module, image, 2, options, values);
    return;
  }
  step(t, "function");
  t->function = cu.moduleFunction(&function, module, "probe");
  if (!t->function) launch(t, function);
}

static void tryLibrary(struct Try* t, const void* image) {
  Handle library = NULL, kernel = NULL, function = NULL;
  step(t, "load");
  double start = nowMs();
  t->load = cu.libraryLoad(&library, image, NULL, NULL, 0, NULL, NULL, 0);
  t->loadMs = nowMs() - start;
  if (t->load) return;
  step(t, "kernel");
  t->kernel = cu.libraryKernel(&kernel, library, "probe");
  if (t->kernel) return;
  step(t, "function");
  t->function = cu.kernelFunction(&function, kernel);
  if (!t->function) launch(t, function);
}

static void* readImage(const char* path) {
  FILE* f = fopen(path, "rb");
  struct stat s;
  if (!f || fstat(fileno(f), &s)) fail(path);
  char* data = calloc(1, (size_t)s.st_size + TAIL);
  if (!data || fread(data, 1, (size_t)s.st_size, f) != (size_t)s.st_size) fail(path);
  fclose(f);
  return data;
}

static int brokeContext(const struct Try* t) { return t->launch > 0 || t->sync > 0; }

/* A child: make a context, then try what the record does not hold yet. */
static void child(const char* path, struct Record* r, unsigned seconds) {
  alarm(seconds);
  const void* image = readImage(path);
  openDriver();
  int device = 0;
  Handle context = NULL, registration = NULL;
  r->init = cu.init(0);
  if (!r->init) {
    r->context = cu.deviceGet(&device, 0);
    if (!r->context) r->context = cu.primaryRetain(&context, device);
    if (!r->context) r->context = cu.setCurrent(context);
  }
  if (r->init || r->context) _exit(0);
  if (cu.logsRegister) cu.logsRegister(onLog, NULL, &registration);
  if (!r->module.started) {
    r->module.started = 1;
    listening = &r->module;
    tryModule(&r->module, image);
    listening = NULL;
    r->module.finished = 1;
    if (brokeContext(&r->module)) _exit(0);
  }
  r->library.started = 1;
  listening = &r->library;
  tryLibrary(&r->library, image);
  listening = NULL;
  r->library.finished = 1;
  _exit(0);
}

static void printString(const char* s) {
  putchar('"');
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\')
      printf("\\%c", c);
    else if (c == '\n')
      printf("\\n");
    else if (c < 32 || c > 126)
      printf("\\u%04x", c);
    else
      putchar(c);
  }
  putchar('"');
}

static void printCode(const char* name, Result code) {
  if (code != NOT_DONE) printf(", \"%s\": %d", name, code);
}

static void printTry(const char* name, const struct Try* t, int seconds) {
  printf(", \"%s\": {\"load_ms\": %.3f", name, t->loadMs);
  printCode("load", t->load);
  printCode("load_ex", t->loadEx);
  printCode("kernel", t->kernel);
  printCode("function", t->function);
  printCode("launch", t->launch);
  printCode("sync", t->sync);
  if (t->hasValue) printf(", \"value\": %u", t->value);
  if (t->binaryVersion)
    printf(", \"ptx_version\": %d, \"binary_version\": %d", t->ptxVersion, t->binaryVersion);
  if (t->signal || t->exitStatus) {
    printf(", \"died_in\": ");
    printString(t->step);
    if (t->exitStatus)
      printf(", \"exit\": %d", t->exitStatus);
    else if (t->signal == SIGALRM)
      printf(", \"timed_out_s\": %d", seconds);
    else
      printf(", \"signal\": %d", t->signal);
  }
  if (*t->jitLog) {
    printf(", \"jit_log\": ");
    printString(t->jitLog);
  }
  if (*t->driverLog) {
    printf(", \"driver_log\": ");
    printString(t->driverLog);
  }
  printf("}");
}

static void printRecord(const char* file, const struct Record* r, int seconds) {
  printf("{\"file\": ");
  printString(file);
  printf(", \"init\": %d, \"context\": %d", r->init, r->context);
  printTry("module", &r->module, seconds);
  printTry("library", &r->library, seconds);
  printf("}\n");
  fflush(stdout);
}

static void clearTry(struct Try* t) {
  t->load = t->kernel = t->function = t->launch = t->sync = t->loadEx = NOT_DONE;
}

/* The line about the device, from a child as well: the parent never touches the
 * driver, since a driver that is initialised does not survive fork. */
static void describeDevice(void) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid < 0) fail("fork");
  if (!pid) {
    openDriver();
    int version = 0, device = 0, major = 0, minor = 0;
    char name[256] = "";
    Result code = cu.init(0);
    if (!code) code = cu.deviceGet(&device, 0);
    if (code) {
      fprintf(stderr, "oracle: no usable GPU, error %d\n", code);
      _exit(2);
    }
    cu.driverVersion(&version);
    cu.deviceName(name, sizeof name, device);
    cu.deviceAttribute(&major, DEV_MAJOR, device);
    cu.deviceAttribute(&minor, DEV_MINOR, device);
    printf("{\"gpu\": ");
    printString(name);
    printf(", \"sm\": \"sm_%d%d\", \"cuda\": \"%d.%d\"}\n", major, minor, version / 1000,
           version % 1000 / 10);
    fflush(stdout);
    _exit(0);
  }
  int status = 0;
  if (waitpid(pid, &status, 0) < 0 || status) exit(2);
}

static char** names;
static size_t count, room;

static void addName(const char* name) {
  if (count == room) {
    room = room ? room * 2 : 64;
    names = realloc(names, room * sizeof *names);
    if (!names) fail("memory");
  }
  names[count++] = strdup(name);
}

static void walk(const char* root, const char* below) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", root, below);
  DIR* d = opendir(path);
  if (!d) fail(path);
  for (struct dirent* e; (e = readdir(d));) {
    if (e->d_name[0] == '.') continue;
    char name[4096];
    struct stat s;
    if (snprintf(name, sizeof name, "%s%s%s", below, *below ? "/" : "", e->d_name) >=
            (int)sizeof name ||
        snprintf(path, sizeof path, "%s/%s", root, name) >= (int)sizeof path || stat(path, &s))
      fail(e->d_name);
    if (S_ISDIR(s.st_mode))
      walk(root, name);
    else
      addName(name);
  }
  closedir(d);
}

static int byName(const void* a, const void* b) {
  return strcmp(*(char* const*)a, *(char* const*)b);
}

int main(int argc, char** argv) {
  int jobs = 4, seconds = 30, option;
  while ((option = getopt(argc, argv, "j:t:")) != -1) {
    if (option == 'j')
      jobs = atoi(optarg);
    else if (option == 't')
      seconds = atoi(optarg);
    else
      optind = argc;
  }
  if (optind >= argc || jobs < 1 || seconds < 1) {
    fprintf(stderr, "usage: oracle [-j JOBS] [-t SECONDS] ROOT [FILE...]\n");
    return 2;
  }
  const char* root = argv[optind++];
  if (optind < argc)
    for (; optind < argc; optind++) addName(argv[optind]);
  else
    walk(root, "");
  qsort(names, count, sizeof *names, byName);

  describeDevice();
  struct Record* records = mmap(NULL, (count + 1) * sizeof *records, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  size_t* slot = calloc((size_t)jobs, sizeof *slot);
  pid_t* pids = calloc((size_t)jobs, sizeof *pids);
  if (records == MAP_FAILED || !slot || !pids) fail("memory");
  for (size_t i = 0; i < count; i++) {
    records[i].init = records[i].context = NOT_DONE;
    clearTry(&records[i].module);
    clearTry(&records[i].library);
  }

  size_t next = 0, printed = 0, running = 0;
  size_t *again = calloc(count + 1, sizeof *again), agains = 0;
  if (!again) fail("memory");
  while (printed < count) {
    while (running < (size_t)jobs && (agains || next < count)) {
      size_t i = agains ? again[--agains] : next++;
      int s = 0;
      while (pids[s]) s++;
      char path[4096];
      snprintf(path, sizeof path, "%s/%s", root, names[i]);
      records[i].children++;
      fflush(stdout);
      pid_t pid = fork();
      if (pid < 0) fail("fork");
      if (!pid) child(path, &records[i], (unsigned)seconds);
      pids[s] = pid;
      slot[s] = i;
      running++;
    }
    int status = 0;
    pid_t pid = wait(&status);
    if (pid < 0) fail("wait");
    for (int s = 0; s < jobs; s++) {
      if (pids[s] != pid) continue;
      struct Record* r = &records[slot[s]];
      pids[s] = 0;
      running--;
      struct Try* t = r->library.started ? &r->library : &r->module;
      if (WIFSIGNALED(status))
        t->signal = WTERMSIG(status);
      else
        t->exitStatus = WEXITSTATUS(status);
      /* The library way gets a child of its own if the module way died or
       * broke the context before it. */
      if (r->module.started && !r->library.started && r->children < 2)
        again[agains++] = slot[s];
      else
        r->done = 1;
    }
    for (; printed < count && records[printed].done; printed++)
      printRecord(names[printed], &records[printed], seconds);
  }
  return 0;
}
