// Separate compilation: the kernels here, what they call in separate_functions.cu.
extern __device__ int elsewhere(int n);
extern __device__ float elsewhere_with_array(const float* p, int n);
extern __device__ int elsewhere_counter;
extern "C" __global__ void calls_elsewhere(int* out, int n) {
  out[threadIdx.x] = elsewhere(n) + elsewhere_counter;
}
extern "C" __global__ void calls_elsewhere_with_array(float* out, int n) {
  float a[16];
  for (int i = 0; i < n; ++i) a[i & 15] = out[i];
  out[threadIdx.x] = elsewhere_with_array(out, n) + a[n & 15];
}
extern "C" __global__ void calls_nothing_elsewhere(float* out, int n) {
  __shared__ float s[100];
  s[threadIdx.x] = out[n];
  __syncthreads();
  out[threadIdx.x] = s[n % 100];
}
extern "C" __global__ void __launch_bounds__(1024, 1) spills_elsewhere(float* out, int n) {
  float v[90];
#pragma unroll
  for (int i = 0; i < 90; ++i) v[i] = out[i * n];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 90; ++i) out[i * n] = v[i] * v[(i * 7) % 90] + elsewhere_counter;
}
