// Kernels whose numbers tests/resources_test.py compares with what ptxas prints of them.
__constant__ float table[64];

extern "C" __global__ void plain(float* p) { p[threadIdx.x] += table[threadIdx.x]; }

extern "C" __global__ void __launch_bounds__(256, 2) bounds(float* p, int n, double d) {
  __shared__ float s[300];
  s[threadIdx.x] = p[n];
  __syncthreads();
  p[threadIdx.x] = static_cast<float>(s[(threadIdx.x + 1) % 300] + d);
}

// More values at once than registers, of every width that a spill can have.
template <typename T, int N>
__device__ void mix(T* p, int n) {
  T a[N];
#pragma unroll
  for (int i = 0; i < N; ++i) a[i] = p[i * n + threadIdx.x];
#pragma unroll
  for (int i = 0; i < N; ++i) a[i] = a[i] * a[(i * 7 + 3) % N] + a[(i * 3 + 1) % N];
#pragma unroll
  for (int i = 0; i < N; ++i) p[i * n + threadIdx.x] = a[i];
}
extern "C" __global__ void __launch_bounds__(1024, 2) spills_float(float* p, int n) {
  mix<float, 60>(p, n);
}
extern "C" __global__ void __launch_bounds__(1024, 2) spills_double(double* p, int n) {
  mix<double, 30>(p, n);
}

// Local memory, and no spill.
extern "C" __global__ void local_array(int* p, int n) {
  int a[64];
  for (int i = 0; i < 64; ++i) a[i] = p[i];
  for (int i = 0; i < n; ++i) a[p[i] & 63] += i;
  p[0] = a[n & 63];
}

extern "C" __global__ void named_barriers(int* p) {
  asm volatile("bar.sync 5, 64;");
  p[0] = 1;
}

struct Large {
  int values[500];
};
extern "C" __global__ void large_parameter(Large large, int* p) {
  p[threadIdx.x] = large.values[threadIdx.x];
}

__device__ __noinline__ int twice(int n) { return n * 2; }
__device__ __noinline__ int half(int n) { return n / 2; }
__device__ int (*choices[2])(int) = {twice, half};
extern "C" __global__ void through_pointer(int* p) { p[0] = choices[p[1]](p[2]); }
