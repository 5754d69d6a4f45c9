// Kernels with edges to launch at: 16 steps of registers, launch bounds, a required block, static
// shared memory, clusters. None touches memory unless `p` is given.
template <int LIVE>
__device__ __forceinline__ void body(float* p, int n) {
  if (!p) return;
  float v[LIVE];
#pragma unroll
  for (int i = 0; i < LIVE; ++i) v[i] = p[i * n];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < LIVE; ++i) p[i * n] = v[i] * v[LIVE - 1 - i];
}

#define REGISTERS(N) \
  extern "C" __global__ void __maxnreg__(N) registers_##N(float* p, int n) { body<N - 8>(p, n); }
REGISTERS(40);
REGISTERS(64);
REGISTERS(72);
REGISTERS(88);
REGISTERS(104);
REGISTERS(120);
REGISTERS(128);
REGISTERS(136);
REGISTERS(152);
REGISTERS(168);
REGISTERS(184);
REGISTERS(200);
REGISTERS(216);
REGISTERS(255);

extern "C" __global__ void plain(float* p, int n) { body<4>(p, n); }
extern "C" __global__ void __launch_bounds__(256) bounds_256(float* p, int n) { body<4>(p, n); }
extern "C" __global__ void __launch_bounds__(96) bounds_96(float* p, int n) { body<4>(p, n); }

template <int BYTES>
__device__ __forceinline__ void with_shared(float* p, int n) {
  __shared__ float s[BYTES / 4];
  if (!p) return;
  s[threadIdx.x % (BYTES / 4)] = p[n];
  __syncthreads();
  p[threadIdx.x] = s[n % (BYTES / 4)];
}
extern "C" __global__ void shared_16k(float* p, int n) { with_shared<16384>(p, n); }
extern "C" __global__ void shared_48k(float* p, int n) { with_shared<49152>(p, n); }

extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_2(float* p, int n) { body<4>(p, n); }
