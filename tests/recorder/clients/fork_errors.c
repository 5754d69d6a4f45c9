/* fork_errors IMAGE KERNEL COUNT: uses CUDA, forks, and launches COUNT times in the child, as a
 * worker does that nobody told. Prints what the child's calls return. */
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  CUmodule module;
  CUfunction kernel;
  const CUcontext context = start(0);
  MUST(cuModuleLoadData(&module, read_file(argv[1])));
  MUST(cuModuleGetFunction(&kernel, module, argv[2]));
  MUST(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
  const pid_t child = fork();
  if (child == 0) {
    SAY(cuCtxSetCurrent(context));
    CUresult result = 0;
    for (int i = 0; i < atoi(argv[3]); ++i)
      result = cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL);
    printf("cuLaunchKernel %d\n", result);
    fflush(stdout);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  return 0;
}
