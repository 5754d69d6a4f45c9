#include "cli/run.h"

#include <chrono>

#include "output/progress.h"

namespace cuproof {

Report ReadInputs(const std::vector<std::string>& paths, unsigned threads, bool deep,
                  const std::function<Report(const Inventory&, const CheckOptions&)>& work,
                  const std::vector<RootPart>& parts) {
  const auto start = std::chrono::steady_clock::now();
  const Inventory inventory = TakeInventory(paths, parts);
  uint64_t bytes = 0;
  for (const Unit& unit : inventory.units) bytes += unit.size;
  Progress progress(bytes, inventory.units.size());
  CheckOptions options;
  options.deep = deep;
  options.threads = threads;
  options.on_unit_done = [&](uint64_t size) {
    progress.AddBytes(size);
    progress.AddFile();
  };
  Report report = work(inventory, options);
  progress.Finish();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace cuproof
