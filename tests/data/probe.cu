// Compiled by nvcc_test.py for the architectures that the toolkit at hand knows.

// Unrolled, so that the images are large enough for every compression to pay.
__global__ void Polynomial(float* values, int count, const float* coefficients) {
  const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (index >= count) return;
  const float x = values[index];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 64; ++i) sum = sum * x + coefficients[i];
  values[index] = sum;
}
