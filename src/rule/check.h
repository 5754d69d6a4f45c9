#pragma once
#include <cstdint>
#include <functional>

#include "container/unit.h"
#include "rule/host_load.h"
#include "rule/report.h"
#include "target/target.h"

namespace cuproof {

struct CheckOptions {
  bool deep = false;
  unsigned threads = 1;
  bool host = false;  // ask what the loader would say, where an environment is known
  HostOptions loader;
  bool sources = false;  // look at source and build files too
  /// Called from any thread when a unit is done, with its size.
  std::function<void(uint64_t)> on_unit_done = [](uint64_t) {};
};

/// Reads every unit of the inventory and judges each file that has to do with CUDA. An image is
/// expanded whole only with `deep`, and where a file would else be said not to run.
Report Check(const Inventory& inventory, const Target& target, const CheckOptions& options);

/// The same reading without judging: for `inspect`.
Report Inspect(const Inventory& inventory, const CheckOptions& options);

}  // namespace cuproof
