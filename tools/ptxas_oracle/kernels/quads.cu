// Values in groups of four registers, sm_80 and higher.
extern "C" __global__ void spill_mma(const uint4* in, const uint2* in2, float4* out, int n) {
  float4 d[24];
#pragma unroll
  for (int i = 0; i < 24; ++i) d[i] = out[i * n];
  for (int k = 0; k < n; ++k) {
    uint4 a = in[k];
#pragma unroll
    for (int i = 0; i < 24; ++i) {
      uint2 b = in2[k * 24 + i];
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
          "{%8,%9}, {%0,%1,%2,%3};"
          : "+f"(d[i].x), "+f"(d[i].y), "+f"(d[i].z), "+f"(d[i].w)
          : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
    }
  }
#pragma unroll
  for (int i = 0; i < 24; ++i) out[i * n] = d[i];
}
extern "C" __global__ void spill_quads(const float4* in, float4* out, int n) {
  float4 v[20];
#pragma unroll
  for (int i = 0; i < 20; ++i) v[i] = in[i * n];
  asm volatile("bar.sync 0;");
#pragma unroll
  for (int i = 0; i < 20; ++i) out[i * n] = v[i];
}
