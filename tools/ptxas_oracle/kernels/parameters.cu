// Parameters: few, of odd sizes, near the 4 KB that every GPU takes.
struct Odd {
  char c[13];
};
struct Wide {
  float4 v[16];
};
template <int N>
struct Block {
  int v[N];
};

extern "C" __global__ void no_parameters() { asm volatile("bar.sync 0;"); }
extern "C" __global__ void mixed_parameters(char c, double d, short s, Odd odd, int* out, float f) {
  *out = c + d + s + odd.c[12] + f;
}
extern "C" __global__ void parameters_256(Wide w, float* out, int n) { out[n] = w.v[n].x; }
extern "C" __global__ void parameters_4k(Block<1000> b, int* out, int n) { out[n] = b.v[n]; }
extern "C" __global__ void parameters_written(Block<64> b, int* out, int n) {
  b.v[n] = n;
  out[n] = b.v[n / 2];
}
