#include "container/kept_members.h"

#include <utility>

namespace cuproof {

void KeptMembers::Keep(const Unit& unit, std::unique_ptr<UnitBytes> bytes) {
  constexpr uint64_t kMaxSize = uint64_t{2} << 30;
  const uint64_t size = bytes->bytes().size();
  const std::lock_guard lock(mutex_);
  if (size > kMaxSize - size_) return;
  if (kept_.try_emplace(&unit, std::move(bytes)).second) size_ += size;
}

std::unique_ptr<UnitBytes> KeptMembers::Take(const Unit& unit) {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(&unit);
  if (found == kept_.end()) return nullptr;
  std::unique_ptr<UnitBytes> bytes = std::move(found->second);
  size_ -= bytes->bytes().size();
  kept_.erase(found);
  return bytes;
}

}  // namespace cuproof
