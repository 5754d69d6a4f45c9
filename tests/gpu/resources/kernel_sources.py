"""Two hundred kernels that differ in registers, shared and local memory, constants, launch bounds and
clusters, as CUDA C++ for attributes.cu."""

BODY = """
template <int LIVE, int LOCAL, int SHARED>
__device__ __forceinline__ void body(float* p, int n) {
  float v[LIVE];
#pragma unroll
  for (int i = 0; i < LIVE; ++i) v[i] = p[i * n];
  if constexpr (LOCAL > 0) {
    float a[LOCAL / 4];
    for (int i = 0; i < n; ++i) a[i % (LOCAL / 4)] = p[i];
    v[0] += a[n % (LOCAL / 4)];
  }
  if constexpr (SHARED > 0) {
    __shared__ float s[SHARED / 4];
    s[threadIdx.x % (SHARED / 4)] = v[0];
    __syncthreads();
    v[LIVE - 1] += s[n % (SHARED / 4)];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < LIVE; ++i) p[i * n] = v[i] * v[LIVE - 1 - i];
}
__constant__ float coefficients[300];
"""


def shapes():
    """(attribute, live values, local bytes, shared bytes) of each kernel."""
    for i in range(60):
        registers = 24 + i * 231 // 59
        yield f"__maxnreg__({registers})", max(4, registers - 12), 0, 0
    for i in range(50):
        yield "", 8, 0, 4 + i * 1003 // 4 * 4
    for i, threads in enumerate((32, 64, 96, 128, 192, 256, 320, 384, 512, 768, 1024)):
        for blocks in (1, 2, 4):
            if threads * blocks <= 2048:
                yield f"__launch_bounds__({threads}, {blocks})", 20 + 9 * i, 0, 512 * (i % 3)
    for i in range(25):
        yield "", 5 + i * 8, 0, 0
    for i in range(25):
        yield "", 10 + i, 4 << (i % 13), 256 * i
    for dims in ("2, 1, 1", "4, 1, 1", "2, 2, 1", "8, 1, 1"):
        yield f"__cluster_dims__({dims})", 16, 0, 1024


def sources(count=200):
    lines = [BODY]
    made = list(shapes())[:count - 3]
    for i, (attribute, live, local, shared) in enumerate(made):
        lines.append(f'extern "C" __global__ void {attribute} k{i:03}(float* p, int n) '
                     f"{{ body<{live}, {local}, {shared}>(p, n); }}")
    for i in range(len(made), count):
        lines.append(f'extern "C" __global__ void k{i:03}(float* p, int n) '
                     f"{{ p[threadIdx.x] = coefficients[n] * {i}; }}")
    names = [f"k{i:03}" for i in range(count)]
    lines.append("static const Kernel kKernels[] = {"
                 + ", ".join(f'{{"{name}", (const void*){name}}}' for name in names) + "};")
    return "\n".join(lines) + "\n"
