// Launch bounds and register limits, as compiled.
#define BODY                                                            \
  float v[40];                                                          \
  _Pragma("unroll") for (int i = 0; i < 40; ++i) v[i] = p[i * n];       \
  float s = 0;                                                          \
  _Pragma("unroll") for (int i = 0; i < 40; ++i) s += v[i] * v[39 - i]; \
  _Pragma("unroll") for (int i = 0; i < 40; ++i) p[i] = v[i] + s;

extern "C" __global__ void no_bounds(float* p, int n) { BODY }
extern "C" __global__ void __launch_bounds__(128) bounds_128(float* p, int n) { BODY }
extern "C" __global__ void __launch_bounds__(1024) bounds_1024(float* p, int n) { BODY }
extern "C" __global__ void __launch_bounds__(256, 4) bounds_256_4(float* p, int n) { BODY }
extern "C" __global__ void __launch_bounds__(512, 2) bounds_512_2(float* p, int n) { BODY }
extern "C" __global__ void __launch_bounds__(1024, 1) bounds_1024_1(float* p, int n) { BODY }
extern "C" __global__ void __maxnreg__(24) maxnreg_24(float* p, int n) { BODY }
extern "C" __global__ void __maxnreg__(64) maxnreg_64(float* p, int n) { BODY }
