// sm_90a alone: warp groups. The accumulator read between two groups makes ptxas wait after each.
extern "C" __global__ void __launch_bounds__(128)
    wgmma_64x8(float* out, unsigned long long a, unsigned long long b) {
  float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  asm volatile("wgmma.fence.sync.aligned;");
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
      : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
      : "l"(a), "l"(b));
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;");
  out[threadIdx.x] = d0 + d1 + d2 + d3;
}
extern "C" __global__ void __launch_bounds__(384, 1) registers_set(float* out, int n) {
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    out[n] = 1;
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    out[threadIdx.x] = out[n + 1] * 2;
  }
}
