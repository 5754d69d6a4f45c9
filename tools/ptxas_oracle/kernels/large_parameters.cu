// More than 4 KB of parameters, which sm_70 and higher take from CUDA 12.1 on; past 16 KB a field
// of the old record of a parameter is too narrow.
template <int N>
struct Block {
  int v[N];
};
extern "C" __global__ void parameters_8k(Block<2048> b, int* out, int n) { out[n] = b.v[n]; }
extern "C" __global__ void parameters_20k(Block<5000> b, int* out, int n) { out[n] = b.v[n]; }
extern "C" __global__ void parameters_two_10k(Block<2500> a, Block<2500> b, int* out, int n) {
  out[n] = a.v[n] + b.v[n];
}
extern "C" __global__ void parameters_32764(Block<8187> b, int* out, int n) { out[n] = b.v[n]; }
