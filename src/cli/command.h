#pragma once
#include <CLI/CLI.hpp>

// One file per command. Each adds itself to the program and leaves its exit code in `exit_code`:
// 0 nothing at or above the fail level, 1 findings, 2 could not do it.
namespace cuproof {

void AddCheckCommand(CLI::App& app, int& exit_code);
void AddInspectCommand(CLI::App& app, int& exit_code);
void AddExplainCommand(CLI::App& app, int& exit_code);
void AddLinkCommand(CLI::App& app, int& exit_code);

inline constexpr int kExitCannot = 2;

}  // namespace cuproof
