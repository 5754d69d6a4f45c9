// Streams, guards and checked calls of c10::cuda: names that changed more often than others.
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

extern "C" __attribute__((visibility("default"))) long stream_of(int device) {
  c10::cuda::set_device(static_cast<c10::DeviceIndex>(device));
  c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
  c10::cuda::device_synchronize();
  C10_CUDA_CHECK(cudaGetLastError());
  return static_cast<long>(stream.id());
}
