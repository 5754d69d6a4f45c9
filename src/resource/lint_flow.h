#pragma once
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "resource/lint_text.h"

namespace cuproof {

/// A number of PTX: "12", "-4", "0x1F".
std::optional<int64_t> PtxConstant(std::string_view text);

/// Where each register of a function is written and read. A register that is written twice, or by a
/// call, has no definition.
class PtxFlow {
 public:
  explicit PtxFlow(const PtxBody& body);

  const PtxStatement* Definition(std::string_view name) const;
  std::vector<const PtxStatement*> Readers(std::string_view name) const;

 private:
  void Note(size_t i);

  const PtxBody& body_;
  std::unordered_map<std::string_view, std::vector<size_t>> written_, read_;
};

/// An answer about a register, found once. Text can make definitions that lead back to themselves,
/// or fan out: whoever asks again while it is looked for gets `unknown`.
template <typename Answer>
class PtxAnswers {
 public:
  explicit PtxAnswers(Answer unknown) : unknown_(unknown) {}

  template <typename Find>
  Answer Get(std::string_view name, Find find) {
    constexpr int kDeepest = 200;
    if (const auto found = known_.find(name); found != known_.end()) return found->second;
    if (depth_ > kDeepest) return unknown_;
    known_.emplace(name, unknown_);
    ++depth_;
    Answer answer = find();
    --depth_;
    known_.insert_or_assign(name, answer);
    return answer;
  }

 private:
  Answer unknown_;
  int depth_ = 0;
  std::unordered_map<std::string_view, Answer> known_;
};

}  // namespace cuproof
