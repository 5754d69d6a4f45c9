// Constant banks and globals.
__constant__ float coefficients[256];
__device__ int counter;
__device__ double weights[100] = {1.0, 2.0};

extern "C" __global__ void constant_bank(float* out, int n) {
  out[threadIdx.x] = coefficients[n] * 2.0f;
}
extern "C" __global__ void constant_and_globals(double* out, int n) {
  atomicAdd(&counter, 1);
  out[threadIdx.x] = weights[n] * coefficients[0] + 0.123456789012345;
}
extern "C" __global__ void double_literals(double* out, double x) {
  out[0] = x * 3.14159265358979 + 2.71828182845905;
  out[1] = sin(x) + exp(x * 1.0000001);
}
extern "C" __global__ void switch_of_ten(int* out, int n) {
  switch (n) {
    case 0:
      out[0] = 11;
      break;
    case 1:
      out[1] = out[7] * 3;
      break;
    case 2:
      out[2] = out[6] / 7;
      break;
    case 3:
      out[3] = out[5] - 9;
      break;
    case 4:
      out[4] = out[4] ^ 5;
      break;
    case 5:
      out[5] = out[3] % 13;
      break;
    case 6:
      out[6] = out[2] << 3;
      break;
    case 7:
      out[7] = out[1] | 1;
      break;
    case 8:
      out[8] = out[0] & 9;
      break;
    default:
      out[9] = 0;
  }
}
