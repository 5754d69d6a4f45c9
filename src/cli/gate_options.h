#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "diff/gate.h"
#include "output/style.h"
#include "resource/kernel_survey.h"
#include "resource/launch_question.h"

namespace cuproof {

/// --budget, --baseline, --write-baseline, --fail-on, --ptx, --ptxas.
struct GateArguments {
  std::string budget;
  std::string baseline;
  std::string write_baseline;
  std::string fail_on = "error";
  std::string ptx;
  std::string ptxas = "ptxas";

  void AddTo(CLI::App& command);
  bool Asked() const;
};

/// Logs of builds and runs among the paths, which are taken out of them: `ptxas -v`, and launches
/// that failed.
struct GateLogs {
  std::vector<FileKernels> files;
  std::vector<MeasuredKernel> kernels;
  std::vector<Finding> findings;
};
/// Of their kernels, those that `survey` would take of a file.
GateLogs TakeLogs(std::vector<std::string>& paths, const SurveyOptions& survey,
                  const GateOptions& options, KernelNames& names);

/// Judges the kernels of a survey and of logs, and writes the baseline that was asked for, unless
/// something could not be read. The findings come errors first; what a gate could not do is printed
/// and joins the problems of the survey.
Result<std::vector<Finding>> RunGate(const GateArguments& arguments, Survey& survey, GateLogs logs,
                                     const GateOptions& options);

/// The findings for people, below a table of kernels.
std::string GateText(const std::vector<Finding>& findings, const Style& style);

}  // namespace cuproof
