// Local arrays: indexed at run time they stay in local memory, and that is no spill.
extern "C" __global__ void array_of_64(float* out, int n) {
  float a[64];
  for (int i = 0; i < 64; ++i) a[i] = out[i];
  for (int i = 0; i < n; ++i) a[(i * 7) & 63] += a[i & 63];
  out[threadIdx.x] = a[n & 63];
}

extern "C" __global__ void array_of_4096_bytes(int* out, int n) {
  int a[1024];
  for (int i = 0; i < n; ++i) a[i & 1023] = out[i];
  out[threadIdx.x] = a[n & 1023] + a[(n * 3) & 1023];
}

extern "C" __global__ void array_of_bytes(unsigned char* out, int n) {
  unsigned char a[37];
  for (int i = 0; i < n; ++i) a[i % 37] = out[i];
  out[threadIdx.x] = a[n % 37];
}

extern "C" __global__ void array_of_doubles_wide(double* out, int n) {
  double a[40];
  for (int i = 0; i < 40; ++i) a[i] = out[i * n];
  for (int i = 0; i < n; ++i) a[i % 40] = a[(i + 3) % 40] * out[i];
  for (int i = 0; i < 40; ++i) out[i] = a[i];
}

extern "C" __global__ void two_arrays(short* s, long long* l, int n) {
  short a[24];
  long long b[24];
  for (int i = 0; i < n; ++i) {
    a[i % 24] = s[i];
    b[i % 24] = l[i];
  }
  s[0] = a[n % 24];
  l[0] = b[(n + 1) % 24];
}

extern "C" __global__ void array_in_registers(float* out) {
  float a[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) a[i] = out[i];
#pragma unroll
  for (int i = 0; i < 16; ++i) out[i] = a[15 - i] + a[i];
}
