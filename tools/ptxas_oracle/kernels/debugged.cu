// Compiled for the debugger, everything lives on the stack; with line numbers nothing changes.
__device__ int helper(int a, int b) {
  int t[4] = {a, b, a + b, a - b};
  return t[(a ^ b) & 3];
}
extern "C" __global__ void debugged(int* out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += helper(i, n) * out[i];
  out[threadIdx.x] = sum;
}
extern "C" __global__ void debugged_with_shared(float* out, int n) {
  __shared__ float s[128];
  s[threadIdx.x] = out[n];
  __syncthreads();
  out[threadIdx.x] = s[n] + helper(n, 3);
}
