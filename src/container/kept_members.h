#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "container/unit.h"

namespace cuproof {

/// Members of zips that are read again soon, as they were expanded: one half of `check` reads them
/// for what they hold for a GPU, the other as a loader would. From any thread.
class KeptMembers {
 public:
  /// Drops what would be more than 2 GiB in all: it is expanded again. The second reader holds all
  /// of one wheel at once anyway, so that for one wheel the peak is no higher.
  void Keep(const Unit& unit, std::unique_ptr<UnitBytes> bytes);

  /// Hands it over; null where it was not kept. `unit` is the very one that was kept.
  std::unique_ptr<UnitBytes> Take(const Unit& unit);

 private:
  std::mutex mutex_;
  uint64_t size_ = 0;
  std::map<const Unit*, std::unique_ptr<UnitBytes>> kept_;
};

}  // namespace cuproof
