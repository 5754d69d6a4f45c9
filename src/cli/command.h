#pragma once
#include <CLI/CLI.hpp>
#include <span>

// One file per command. Each adds itself to the program and leaves its exit code in `exit_code`:
// 0 nothing at or above the fail level, 1 findings, 2 could not do it.
namespace cuproof {

void AddCheckCommand(CLI::App& app, int& exit_code);
void AddInspectCommand(CLI::App& app, int& exit_code);
void AddDiffCommand(CLI::App& app, int& exit_code);
void AddExplainCommand(CLI::App& app, int& exit_code);
void AddLinkCommand(CLI::App& app, int& exit_code);
void AddReportCommand(CLI::App& app, int& exit_code);
void AddResourcesCommand(CLI::App& app, int& exit_code);

/// How this process was started, as far as `cuproof run` must know it.
struct Invocation {
  std::span<char* const> command;            // behind `--`, which no other part of us may interpret
  void (*inherited_sigpipe)(int) = nullptr;  // before we ignored it
};
void AddRunCommand(CLI::App& app, int& exit_code, const Invocation& invocation);

inline constexpr int kExitCannot = 2;
inline constexpr int kExitRunFailed = 125;  // of `cuproof run`, whose other codes are the program's

}  // namespace cuproof
