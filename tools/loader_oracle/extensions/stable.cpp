// An operator over LibTorch's stable ABI (torch 2.10 and newer).
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

torch::stable::Tensor same(torch::stable::Tensor input) {
  STD_TORCH_CHECK(input.dim() > 0, "no dimensions");
  return torch::stable::empty_like(input);
}

STABLE_TORCH_LIBRARY(loader_oracle_stable, m) { m.def("same(Tensor input) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(loader_oracle_stable, CPU, m) { m.impl("same", TORCH_BOX(&same)); }
