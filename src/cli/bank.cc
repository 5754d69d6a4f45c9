#include "cli/bank.h"

#include "output/bank_report.h"

namespace cuproof {

Result<std::string> AnswerBank(const std::vector<std::string>& accesses,
                               const std::array<uint32_t, 3>& block, bool json) {
  BankQuestion question;
  question.block = block;
  std::vector<std::vector<LaneElements>> elements;
  std::vector<uint64_t> rows;
  for (const std::string& text : accesses) {
    auto access = BankAccess::Parse(text);
    if (!access) return access.error();
    if (!question.answers.empty() &&
        question.answers.front().access.element_bytes != access->element_bytes) {
      return Error{
          ErrorCode::kUsage,
          "--bank: accesses given together are of one array, with elements of one size; ask "
          "for the others apart",
          "", std::nullopt};
    }
    auto warps = ElementsOfBlock(*access, block);
    if (!warps) return warps.error();
    for (const uint64_t number : access->index.Numbers()) rows.push_back(number);
    elements.push_back(*warps);
    question.answers.push_back({std::move(*access), std::move(*warps)});
  }
  question.fixes = FixesOf(elements, question.answers.front().access.element_bytes, rows);
  return json ? BankJson(question, CUPROOF_VERSION) : BankText(question);
}

}  // namespace cuproof
