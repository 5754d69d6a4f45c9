#include "explain/explain.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "explain/context.h"

namespace cuproof {
namespace {

using explain::ErrorContext;

Finding Explain(const ErrorContext& context) {
  using Explainer = std::optional<Finding> (*)(const ErrorContext&);
  constexpr Explainer kExplainers[] = {explain::ExplainFork,         explain::ExplainImage,
                                       explain::ExplainRegisters,    explain::ExplainRange,
                                       explain::ExplainAsynchronous, explain::ExplainLaunchForm,
                                       explain::ExplainMemory};
  for (const Explainer explainer : kExplainers) {
    if (auto finding = explainer(context)) return std::move(*finding);
  }
  return explain::ExplainOther(context);
}

void AddWords(const trace::ApiError& error, std::vector<std::string>& words) {
  constexpr size_t kMost = 16;
  constexpr size_t kLongest = 2000;
  for (const trace::LogLine& line : error.log) {
    if (words.size() >= kMost) return;
    if (std::find(words.begin(), words.end(), line.text) == words.end())
      words.push_back(explain::Shortened(line.text, kLongest));
  }
}

// The same bytes loaded again are the same image.
std::string ImageKey(const trace::Process& process, uint32_t id) {
  const auto image = process.images.find(id);
  if (image == process.images.end() || image->second.hash.empty()) return std::to_string(id);
  return image->second.hash;
}

void Bound(Finding& finding) {
  constexpr size_t kMost = 2000;
  for (std::string* text : {&finding.file, &finding.subject, &finding.message, &finding.fix})
    *text = explain::Shortened(std::move(*text), kMost);
  for (std::string& fact : finding.evidence) fact = explain::Shortened(std::move(fact), kMost);
}

// What every process of a program meets is told once.
void JoinNotes(std::vector<Explanation>& explanations) {
  std::map<std::tuple<std::string, std::string, std::vector<std::string>, std::vector<std::string>>,
           size_t>
      seen;
  std::vector<Explanation> joined;
  for (Explanation& explanation : explanations) {
    const Finding& finding = explanation.finding;
    if (finding.severity == Severity::kNote) {
      const auto [known, fresh] = seen.try_emplace(
          {finding.id, finding.message, finding.evidence, explanation.driver_words}, joined.size());
      if (!fresh) {
        Explanation& first = joined[known->second];
        first.count += explanation.count;
        first.exact &= explanation.exact;
        if (first.last_process != explanation.process) ++first.processes;
        first.last_process = explanation.process;
        continue;
      }
    }
    joined.push_back(std::move(explanation));
  }
  explanations = std::move(joined);
}

// Explaining reads images, and a hostile record can name the same error a million times.
constexpr size_t kMaxExplained = 2000;

}  // namespace

std::vector<Explanation> ExplainRun(const trace::Run& run) {
  std::vector<Explanation> explanations;
  // Process, call, result, and what it was about; a sticky error is one, whatever calls return it.
  using Key = std::tuple<size_t, std::string, int64_t, uint32_t, std::string, uint32_t,
                         trace::Extent, trace::Extent, uint64_t>;
  std::map<Key, size_t> seen;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const trace::Process& process = run.processes[p];
    const bool exact = trace::ErrorCountsExact(process);
    for (size_t e = 0; e < process.errors.size(); ++e) {
      const trace::ApiError& error = process.errors[e];
      Key key{p,
              error.api,
              error.result,
              error.function,
              ImageKey(process, error.image),
              error.graph,
              error.grid.value_or(trace::Extent{}),
              error.block.value_or(trace::Extent{}),
              error.shared.value_or(0)};
      if (explain::IsSticky(error.result) || explain::IsOfFork(process, error.result))
        key = {p, "", error.result, 0, "", 0, {}, {}, 0};
      const auto known = seen.find(key);
      if (known != seen.end()) {
        explanations[known->second].count += error.count;
        explanations[known->second].exact &= exact || !error.repeated;
        AddWords(error, explanations[known->second].driver_words);
        continue;
      }
      if (explanations.size() >= kMaxExplained) continue;
      Explanation explanation;
      explanation.finding = Explain({run, process, error});
      Bound(explanation.finding);
      explanation.process = explanation.last_process = p;
      explanation.error = e;
      explanation.count = error.count;
      explanation.exact = exact || !error.repeated;
      AddWords(error, explanation.driver_words);
      seen.emplace(std::move(key), explanations.size());
      explanations.push_back(std::move(explanation));
    }
  }
  JoinNotes(explanations);
  std::stable_sort(explanations.begin(), explanations.end(),
                   [](const Explanation& a, const Explanation& b) {
                     return a.finding.severity > b.finding.severity;
                   });
  return explanations;
}

}  // namespace cuproof
