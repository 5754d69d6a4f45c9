// What the compiler calls by itself: printf, malloc, slow paths of division and of mathematics.
extern "C" __global__ void prints(int n, double d) { printf("%d %f\n", n, d); }
extern "C" __global__ void allocates(int** out, int n) {
  out[threadIdx.x] = static_cast<int*>(malloc(n));
}
extern "C" __global__ void traps(int n) {
  if (n > 3) asm volatile("trap;");
}
extern "C" __global__ void divides(double* d, float* f, long long* l, int n) {
  d[0] = d[1] / d[2];
  f[0] = f[1] / f[2] + sqrtf(f[3]);
  l[0] = l[1] / l[2] + l[3] % n;
}
extern "C" __global__ void sine_of_large(float* f, double* d) {
  f[0] = sinf(f[1]) + cosf(f[2]) * tanf(f[3]);
  d[0] = pow(d[1], d[2]) + tgamma(d[3]);
}
extern "C" __global__ void warp_votes(int* out, int n) {
  out[threadIdx.x] = __shfl_xor_sync(~0u, n, 5) + __popc(__ballot_sync(~0u, n > 3));
}
