// Textures and surfaces by handle.
extern "C" __global__ void texture_2d(unsigned long long t, float* out, float x, float y) {
  float a, b, c, d;
  asm volatile("tex.2d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5,%6}];"
               : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
               : "l"(t), "f"(x), "f"(y));
  out[threadIdx.x] = a + b + c + d;
}
extern "C" __global__ void surface_copy(unsigned long long from, unsigned long long to, int x) {
  unsigned v;
  asm volatile("suld.b.1d.b32.trap {%0}, [%1, {%2}];" : "=r"(v) : "l"(from), "r"(x * 4));
  asm volatile("sust.b.1d.b32.trap [%0, {%1}], {%2};" ::"l"(to), "r"(x * 4), "r"(v + 1));
}
