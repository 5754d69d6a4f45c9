// Calls: what a kernel calls adds to its stack, and is unknown behind a pointer.
__device__ __noinline__ int leaf(int n) { return n * 3 + 1; }

__device__ __noinline__ int with_array(int n) {
  int a[32];
  for (int i = 0; i < n; ++i) a[i & 31] = i * n;
  return a[n & 31];
}

__device__ __noinline__ int chain(int n) { return with_array(n) + leaf(n); }

__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

__device__ int odd(int n);
__device__ __noinline__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__device__ __noinline__ int odd(int n) { return n == 0 ? 0 : even(n - 1) + with_array(n); }

__device__ __noinline__ float many_live(const float* in, int n) {
  float v[48];
#pragma unroll
  for (int i = 0; i < 48; ++i) v[i] = in[i * n];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 48; ++i) sum += v[i] * v[47 - i] + v[(i * 5) % 48];
  return sum + leaf(n);
}

extern "C" __global__ void calls_leaf(int* out, int n) { out[0] = leaf(n); }
extern "C" __global__ void calls_chain(int* out, int n) { out[0] = chain(n); }
extern "C" __global__ void recursive(int* out, int n) { out[0] = factorial(n); }
extern "C" __global__ void mutually_recursive(int* out, int n) { out[0] = even(n); }
extern "C" __global__ void calls_with_live(float* out, int n) {
  float a = out[1], b = out[2], c = out[3];
  out[0] = many_live(out, n) + a * b + c;
}

typedef int (*function)(int);
__device__ function table[3] = {leaf, with_array, factorial};
extern "C" __global__ void through_pointer(int* out, int n) { out[0] = table[n % 3](n); }

extern "C" __global__ void through_pointer_with_array(int* out, int n) {
  int a[20];
  for (int i = 0; i < n; ++i) a[i % 20] = table[i % 3](n);
  out[0] = a[n % 20];
}

struct Shape {
  __device__ virtual int area(int) const = 0;
};
struct Square : Shape {
  __device__ int area(int n) const override { return n * n; }
};
struct Odd : Shape {
  __device__ int area(int n) const override { return with_array(n); }
};
extern "C" __global__ void virtual_call(int* out, int n) {
  Square square;
  Odd odd_one;
  const Shape* shape = n & 1 ? static_cast<const Shape*>(&square) : &odd_one;
  out[0] = shape->area(n);
}
