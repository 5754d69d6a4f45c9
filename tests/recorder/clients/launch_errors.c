/* launch_errors SCENARIO IMAGE KERNEL: makes one launch fail, or work, in the way that it is asked
 * to. */
#include "client.h"

static CUresult launch(CUfunction kernel, unsigned grid_y, unsigned block, unsigned shared,
                       CUstream stream) {
  return cuLaunchKernel(kernel, 2, grid_y, 1, block, 1, 1, shared, stream, NULL, NULL);
}

static void in_graph(CUfunction kernel, unsigned block, int captured) {
  CUgraph graph;
  CUgraphExec exec = NULL;
  CUstream stream;
  MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  if (captured) {
    MUST(cuStreamBeginCapture_v2(stream, CU_CAPTURE_RELAXED));
    SAY(launch(kernel, 1, 32, 0, stream));
    SAY(launch(kernel, 1, block, 0, stream));
    SAY(cuStreamEndCapture(stream, &graph));
  } else {
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS parameters = {kernel, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL, NULL};
    MUST(cuGraphCreate(&graph, 0));
    SAY(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &parameters));
    parameters.blockDimX = block;
    SAY(cuGraphAddKernelNode_v2(&node, graph, &node, 1, &parameters));
  }
  SAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
  if (exec) SAY(cuGraphLaunch(exec, stream));
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const char* scenario = argv[1];
  CUmodule module;
  CUfunction kernel;
  CUstream stream;
  start(0);
  MUST(cuModuleLoadData(&module, read_file(argv[2])));
  MUST(cuModuleGetFunction(&kernel, module, argv[3]));
  MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  int value;
  MUST(cuFuncGetAttribute(&value, 4, kernel));
  MUST(cuFuncGetAttribute(&value, 0, kernel));
  MUST(cuFuncGetAttribute(&value, 1, kernel));
  if (!strcmp(scenario, "works")) {
    for (int i = 0; i < 5; ++i) SAY(launch(kernel, 1, 128, 0, stream));
    SAY(cuStreamSynchronize(stream));
  } else if (!strcmp(scenario, "registers")) {
    SAY(launch(kernel, 1, 1024, 0, stream));
  } else if (!strcmp(scenario, "registers-ex")) {
    CUlaunchConfig config = {2, 1, 1, 1024, 1, 1, 0, stream, NULL, 0};
    SAY(cuLaunchKernelEx(&config, kernel, NULL, NULL));
  } else if (!strcmp(scenario, "grid")) {
    SAY(launch(kernel, 70000, 128, 0, stream));
  } else if (!strcmp(scenario, "block")) {
    SAY(cuLaunchKernel(kernel, 1, 1, 1, 64, 32, 1, 0, stream, NULL, NULL));
  } else if (!strcmp(scenario, "shared")) {
    SAY(launch(kernel, 1, 128, 100000, stream));
  } else if (!strcmp(scenario, "shared-opt-in")) {
    SAY(cuFuncSetAttribute(kernel, 8, 300000));
    SAY(launch(kernel, 1, 128, 300000, stream));
  } else if (!strcmp(scenario, "graph")) {
    in_graph(kernel, 1024, 0);
  } else if (!strcmp(scenario, "captured")) {
    in_graph(kernel, 1024, 1);
  } else if (!strcmp(scenario, "sticky")) {
    SAY(launch(kernel, 1, 64, 0, stream));
    SAY(launch(kernel, 1, 96, 0, stream)); /* broken by CUPROOF_MODEL_FAULT */
    SAY(cuStreamSynchronize(stream));
    CUdeviceptr memory;
    SAY(cuMemAlloc_v2(&memory, 64));
  } else {
    return 2;
  }
  return 0;
}
