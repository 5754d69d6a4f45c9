#pragma once
#include <array>
#include <string>
#include <vector>

#include "resource/bank.h"

namespace cuproof {

/// One access with what its warps cost.
struct BankAnswer {
  BankAccess access;
  std::vector<LaneElements> warps;
};

struct BankQuestion {
  std::array<uint32_t, 3> block = {32, 1, 1};
  std::vector<BankAnswer> answers;  // of one array: one element size
  std::vector<BankFix> fixes;       // for all of them
};

std::string BankText(const BankQuestion& question);
std::string BankJson(const BankQuestion& question, const char* version);

}  // namespace cuproof
