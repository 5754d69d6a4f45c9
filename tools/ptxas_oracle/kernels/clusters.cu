// Clusters, sm_90 and higher.
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_2(int* out, int n) {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  out[threadIdx.x] = n;
}
extern "C" __global__ void __cluster_dims__(4, 2, 1) __launch_bounds__(256)
    cluster_4_2(int* out, int n) {
  __shared__ int s[64];
  s[threadIdx.x & 63] = n;
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  unsigned address, remote;
  asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(address) : "l"(s));
  asm("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(remote) : "r"(address));
  int v;
  asm volatile("ld.shared::cluster.b32 %0, [%1];" : "=r"(v) : "r"(remote));
  out[threadIdx.x] = v;
}
extern "C" __global__ void __launch_bounds__(128, 1, 8) cluster_at_most_8(int* out, int n) {
  out[threadIdx.x] = n;
}
extern "C" __global__ void cluster_rank(int* out) {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  out[threadIdx.x] = rank;
}
extern "C" __global__ void mbarriers(int* out, int n) {
  __shared__ unsigned long long bar[4];
  unsigned address;
  asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(address) : "l"(bar));
  if (threadIdx.x < 4)
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address + threadIdx.x * 8), "r"(n));
  __syncthreads();
  asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(address));
  out[threadIdx.x] = n;
}
