#include "bytes/parallel.h"

#include <sched.h>

namespace cuproof {

unsigned ProcessorCount() {
  // hardware_concurrency() counts the machine's processors, not those of our cpuset.
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

}  // namespace cuproof
