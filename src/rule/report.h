#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "container/unit.h"
#include "image/file_images.h"
#include "rule/host_load.h"
#include "target/target.h"
#include "target/verdict.h"

namespace cuproof {

enum class Severity : uint8_t { kNote, kWarning, kError };

const char* SeverityName(Severity severity);

/// One thing that a user should know. Its id is stable; docs/findings/<id>.md explains it.
struct Finding {
  std::string id;  // "CP101"
  Severity severity = Severity::kNote;
  std::string file;                   // as in FileReport::path; empty: about the whole root
  std::string subject;                // the image, module or member, or the GPU: "sm_103"
  std::string message;                // one sentence
  std::vector<std::string> evidence;  // facts with their places: "compute_90 at byte 0x1234"
  std::string fix;                    // what to do; empty when there is nothing
  std::string source;                 // where the rule comes from
  std::string verified_on;            // what it was verified on, or "by document"
  std::string source_file;            // of the kernel, where the compiler left it
  uint32_t source_line = 0;
};

/// One file (or member) that was read, with its verdict for each GPU of the target, in order.
struct FileReport {
  uint32_t root = 0;
  std::string path;
  FileImages images;
  std::vector<FileVerdict> verdicts;
  std::vector<std::string> declared_archs;  // by a metadata.json beside it: "9.0a", "9.0+PTX"
  std::shared_ptr<const HostLoad> host;     // none: no environment to load it in, or no such file
};

/// The outcome of one run over all inputs.
struct Report {
  Target target;
  std::vector<Root> roots;
  std::vector<FileReport> files;  // with device code or host code of a CUDA program, by path
  std::vector<Finding> findings;  // errors first
  std::vector<Error> problems;    // inputs that could not be read: exit code 2
  std::vector<std::set<std::string>> needed;  // by root: what its files name in DT_NEEDED
  uint64_t files_seen = 0;
  uint64_t files_without_cuda = 0;
  uint64_t files_not_loaded = 0;  // shared objects of which it is not known what loads them
  uint64_t bytes_read = 0;        // size of what was looked into
  double seconds = 0;
};

}  // namespace cuproof
