// Empty kernels in a loop. As a program: launches.cu COUNT prints the sum that its kernels counted.
// With `serve` it waits for lines on standard input and times that many launches for each: the cost
// benchmark keeps several such processes and lets them take turns.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

__global__ void Empty() {}
__global__ void Add(int* sum) { atomicAdd(sum, 1); }

static double Now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) * 1e9 + double(time.tv_nsec);
}

static int Serve() {
  Empty<<<1, 1>>>();
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  char line[64];
  std::printf("ready\n");
  std::fflush(stdout);
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    const int count = std::atoi(line);
    // In pieces that the launch queue holds, so that the loop measures the host and not the GPU.
    double spent = 0;
    for (int done = 0; done < count; done += 500) {
      const double start = Now();
      for (int i = 0; i < 500; ++i) Empty<<<1, 1>>>();
      spent += Now() - start;
      cudaDeviceSynchronize();
    }
    std::printf("%.3f\n", spent / count);
    std::fflush(stdout);
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "serve") == 0) return Serve();
  const int count = argc > 1 ? std::atoi(argv[1]) : 1000;
  int* sum = nullptr;
  if (cudaMalloc(&sum, sizeof(int)) != cudaSuccess) return 1;
  cudaMemset(sum, 0, sizeof(int));
  for (int i = 0; i < count; ++i) Add<<<1, 32>>>(sum);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  for (int i = 0; i < 10; ++i) Add<<<1, 32, 0, stream>>>(sum);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 7; ++i) cudaGraphLaunch(exec, stream);
  int host = 0;
  cudaStreamSynchronize(stream);
  cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%d %s\n", host, cudaGetErrorString(cudaGetLastError()));
  return 0;
}
