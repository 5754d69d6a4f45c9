// An operator over torch's C++ API, as most extensions are: a schema, a dispatch, tensor methods.
#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor scaled_sum(const at::Tensor& input, double scale, c10::optional<int64_t> dim) {
  at::Tensor scaled = at::mul(input.contiguous(), scale);
  if (dim.has_value()) return scaled.sum({*dim}, /*keepdim=*/false, c10::nullopt);
  return at::zeros_like(scaled).add_(scaled.sum());
}

TORCH_LIBRARY(loader_oracle_api, m) {
  m.def("scaled_sum(Tensor input, float scale, int? dim=None) -> Tensor");
}
TORCH_LIBRARY_IMPL(loader_oracle_api, CPU, m) { m.impl("scaled_sum", &scaled_sum); }
