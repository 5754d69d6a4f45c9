/* launch_loop IMAGE KERNEL COUNT THREADS: COUNT launches from each of THREADS threads, each on a
 * stream of its own. Prints how many worked. */
#include <pthread.h>

#include "client.h"

static CUcontext context;
static CUfunction kernel;
static int count;

static void* work(void* worked) {
  CUstream stream;
  MUST(cuCtxSetCurrent(context));
  MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  for (int i = 0; i < count; ++i) {
    if (cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, stream, NULL, NULL) == 0) ++*(long*)worked;
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  CUmodule module;
  context = start(0);
  MUST(cuModuleLoadData(&module, read_file(argv[1])));
  MUST(cuModuleGetFunction(&kernel, module, argv[2]));
  count = atoi(argv[3]);
  enum { MOST = 256 };
  const int threads = atoi(argv[4]) < MOST ? atoi(argv[4]) : MOST;
  pthread_t thread[MOST];
  long worked[MOST] = {0}, total = 0;
  for (int i = 0; i < threads; ++i) pthread_create(&thread[i], NULL, work, &worked[i]);
  for (int i = 0; i < threads; ++i) {
    pthread_join(thread[i], NULL);
    total += worked[i];
  }
  printf("%ld launches\n", total);
  return 0;
}
