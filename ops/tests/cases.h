// Rows of the tables that ops/tools/specs.py makes.
#ifndef CUPROOF_OPS_TESTS_CASES_H
#define CUPROOF_OPS_TESTS_CASES_H

#include <ostream>

#include "cuproof/ops/status.h"

namespace cuproof::ops::test {

/// A list of `count` tensors whose sizes repeat `pattern`.
struct Case {
  const char* name;
  const char* dtype;
  const char* input;
  const long long* pattern;
  int pattern_size;
  int count;

  long long elements() const {
    long long sum = 0;
    for (int t = 0; t < count; ++t) sum += pattern[t % pattern_size];
    return sum;
  }
};

/// Of 2^26 elements and more: what is slow on the host is done less often.
inline bool IsLarge(const Case& row) { return row.elements() > 1 << 25; }

inline void PrintTo(const Case& row, std::ostream* out) { *out << row.name; }

/// A wrong argument and what is said of it.
struct Refusal {
  const char* id;
  cuproof_ops_status status;
  const char* says;
  bool gpu;  // found only where there is a GPU
};

}  // namespace cuproof::ops::test

#endif
