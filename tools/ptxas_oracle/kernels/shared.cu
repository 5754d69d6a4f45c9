// Shared memory and barriers.
extern "C" __global__ void shared_none(float* out) { out[threadIdx.x] = 1.0f; }

extern "C" __global__ void shared_1024(float* out, int n) {
  __shared__ float s[256];
  s[threadIdx.x] = out[n];
  __syncthreads();
  out[threadIdx.x] = s[n];
}

extern "C" __global__ void shared_48k(float* out, int n) {
  __shared__ float s[12288];
  s[threadIdx.x] = out[n];
  __syncthreads();
  out[threadIdx.x] = s[n];
}

extern "C" __global__ void shared_dynamic(float* out, int n) {
  extern __shared__ float dynamic[];
  dynamic[threadIdx.x] = out[n];
  __syncthreads();
  out[threadIdx.x] = dynamic[n];
}

extern "C" __global__ void shared_both(float* out, int n) {
  extern __shared__ float dynamic[];
  __shared__ double fixed[33];
  __shared__ unsigned char odd[7];
  dynamic[threadIdx.x] = out[n];
  fixed[threadIdx.x & 31] = out[n + 1];
  odd[threadIdx.x % 7] = n;
  __syncthreads();
  out[threadIdx.x] = dynamic[n] + fixed[n & 31] + odd[n % 7];
}

extern "C" __global__ void shared_aligned(float* out, int n) {
  __shared__ char one;
  __shared__ __align__(128) float4 lines[9];
  if (threadIdx.x == 0) one = n;
  lines[threadIdx.x % 9].x = out[n];
  __syncthreads();
  out[threadIdx.x] = lines[n % 9].x + one;
}

__device__ __noinline__ float helper(float x, int n) {
  __shared__ float of_helper[64];
  of_helper[threadIdx.x & 63] = x;
  __syncthreads();
  return of_helper[n & 63];
}
extern "C" __global__ void shared_of_callee(float* out, int n) {
  out[threadIdx.x] = helper(out[n], n);
}

extern "C" __global__ void barriers_0_and_5(int* out, int n) {
  asm volatile("bar.sync 0;");
  out[threadIdx.x] = n;
  asm volatile("bar.sync 5, 64;");
}

extern "C" __global__ void barrier_15_arrives(int* out, int n) {
  if (n) asm volatile("bar.arrive 15, 96;");
  asm volatile("bar.sync 15, 96;");
  out[threadIdx.x] = n;
}

extern "C" __global__ void barrier_of_register(int* out, int n) {
  asm volatile("bar.sync %0;" ::"r"(n));
  out[threadIdx.x] = n;
}

extern "C" __global__ void barrier_reduces(int* out, int n) {
  out[threadIdx.x] = __syncthreads_count(out[threadIdx.x] > n);
}
