// One kernel for each note on PTX, CP411 to CP414.
__global__ void double_literal(float* out, const float* a, float b) {
  out[threadIdx.x] = a[threadIdx.x] * 0.1 + b;
}

__global__ void mask_of_absent_lanes(float* out) {
  const int lane = threadIdx.x & 31;
  float v = out[threadIdx.x];
  if (lane < 8) v += __shfl_xor_sync(0xffff, v, 1);
  out[threadIdx.x] = v;
}

__global__ void vector_off_its_alignment(float* out) {
  __shared__ __align__(16) float s[64];
  s[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  const float4 v = *reinterpret_cast<float4*>(s + 1);
  out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

__global__ void array_indexed_at_run_time(float* out, int n) {
  float a[10];
  for (int i = 0; i < n; ++i) a[i % 10] = out[i];
  out[0] = a[n % 10];
}
