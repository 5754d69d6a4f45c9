// The other half of separate_kernels.cu.
__device__ int elsewhere_counter = 3;
__device__ __noinline__ int elsewhere(int n) { return n * 5 + elsewhere_counter; }
__device__ __noinline__ float elsewhere_with_array(const float* p, int n) {
  float a[50];
  for (int i = 0; i < n; ++i) a[i % 50] = p[i];
  return a[n % 50] + elsewhere(n);
}
