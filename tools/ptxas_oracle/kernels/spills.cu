// Values that stay alive over a barrier until there are no registers left.
template <class T, int N>
__device__ __forceinline__ void live(const T* in, T* out, int n) {
  T v[N];
#pragma unroll
  for (int i = 0; i < N; ++i) v[i] = in[i * n];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < N; ++i) v[i] = v[i] * v[(i * 7 + 3) % N] + v[N - 1 - i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < N; ++i) out[i * n] = v[i] + v[(i + N / 2) % N];
}

extern "C" __global__ void spill_bytes(const unsigned char* in, unsigned char* out, int n) {
  live<unsigned char, 120>(in, out, n);
}
extern "C" __global__ void spill_shorts(const short* in, short* out, int n) {
  live<short, 120>(in, out, n);
}
extern "C" __global__ void spill_ints(const int* in, int* out, int n) {
  live<int, 100>(in, out, n);
}
extern "C" __global__ void spill_floats(const float* in, float* out, int n) {
  live<float, 100>(in, out, n);
}
extern "C" __global__ void spill_doubles(const double* in, double* out, int n) {
  live<double, 60>(in, out, n);
}
extern "C" __global__ void spill_longs(const long long* in, long long* out, int n) {
  live<long long, 50>(in, out, n);
}

extern "C" __global__ void spill_float2(const float2* in, float2* out, int n) {
  float2 v[40];
#pragma unroll
  for (int i = 0; i < 40; ++i) v[i] = in[i * n];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 40; ++i) out[i * n] = make_float2(v[i].y * v[39 - i].x, v[i].x);
}

extern "C" __global__ void spill_float4(const float4* in, float4* out, int n) {
  float4 v[30];
#pragma unroll
  for (int i = 0; i < 30; ++i) v[i] = in[i * n];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 30; ++i) out[(29 - i) * n] = v[i];
}

extern "C" __global__ void spill_predicates(const int* in, int* out, int n) {
  bool p[40];
#pragma unroll
  for (int i = 0; i < 40; ++i) p[i] = in[i * n] > n + i;
  __syncthreads();
  int sum = 0;
#pragma unroll
  for (int i = 0; i < 40; ++i)
    if (p[i] != p[(i * 3 + 1) % 40]) sum += in[i + n];
  out[0] = sum;
}

extern "C" __global__ void spill_and_array(const float* in, float* out, int n) {
  float a[24];
  for (int i = 0; i < n; ++i) a[(i * 5) % 24] = in[i];
  live<float, 80>(in, out, n);
  out[0] += a[n % 24];
}

__device__ __noinline__ float callee(float x, float y) { return x * y + 1.0f; }
extern "C" __global__ void spill_over_calls(const float* in, float* out, int n) {
  float v[60];
#pragma unroll
  for (int i = 0; i < 60; ++i) v[i] = in[i * n];
  float c = callee(v[0], v[59]);
#pragma unroll
  for (int i = 0; i < 60; ++i) out[i * n] = v[i] + c;
}

extern "C" __global__ void spill_in_loop(const float* in, float* out, int n) {
  float v[72];
#pragma unroll
  for (int i = 0; i < 72; ++i) v[i] = in[i];
  for (int k = 0; k < n; ++k) {
#pragma unroll
    for (int i = 0; i < 72; ++i) v[i] += v[(i * 11 + 5) % 72] * in[k];
  }
#pragma unroll
  for (int i = 0; i < 72; ++i) out[i] = v[i];
}
