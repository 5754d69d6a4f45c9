#pragma once
#include <string>
#include <vector>

#include "link/environment.h"
#include "link/packages.h"

namespace cuproof {

struct Finding;

/// A part of cuDNN that the environment's own copy opens by name, and that another copy would give.
struct ForeignPart {
  std::string name;       // "libcudnn_engines_precompiled.so.9"
  std::string opened_by;  // …/nvidia/cudnn/lib/libcudnn_graph.so.9
  std::string found;      // where the loader finds it; empty: nowhere
  std::string found_by;   // "LD_LIBRARY_PATH"
};

/// An operator library that a file of the environment claims (TORCH_LIBRARY).
struct OperatorClaim {
  std::string name;
  std::string file;
  std::string package;
};

/// What is to be said of an environment as a whole.
struct HostEnvironment {
  std::string folder;
  std::string torch_version;  // "2.10.0+cu128"; empty: no torch
  std::string torch_cuda;     // "12.8"
  std::string torch_folder;
  bool has_program = false;  // an interpreter was found and loads
  std::vector<std::string>
      other_torches;  // "torch 2.5.1 in …/torch", behind the one that is imported
  Packages packages;
  std::vector<ForeignPart> foreign_parts;
  std::vector<std::string> bitsandbytes;  // CUDA numbers of its files: "128", "130"
  std::vector<PathEntry> path_entries;    // those that hold shared objects
};

/// What the rules of a whole environment see.
struct EnvironmentContext {
  const HostEnvironment& environment;
  const std::vector<OperatorClaim>& claims;  // of all of its files
};

using EnvironmentRule = void (*)(const EnvironmentContext&, std::vector<Finding>&);
void RuleOperatorClaims(const EnvironmentContext& context,
                        std::vector<Finding>& findings);                                   // CP204
void RuleOwnedTwice(const EnvironmentContext& context, std::vector<Finding>& findings);    // CP304
void RuleTwoTorches(const EnvironmentContext& context, std::vector<Finding>& findings);    // CP308
void RuleForeignParts(const EnvironmentContext& context, std::vector<Finding>& findings);  // CP309
void RuleCudaVariant(const EnvironmentContext& context, std::vector<Finding>& findings);   // CP310

/// All of them.
void RunEnvironmentRules(const EnvironmentContext& context, std::vector<Finding>& findings);

}  // namespace cuproof
