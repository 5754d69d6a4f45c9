#pragma once
#include <string>
#include <vector>

#include "rule/report.h"

namespace cuproof {

using FileList = std::vector<const FileReport*>;

/// The verdict on the GPU with this index in the target; unknown where there is none.
const FileVerdict& VerdictAt(const FileReport& file, size_t gpu);

/// A column of the matrix. GPUs of one architecture that no file tells apart share it.
struct MatrixColumn {
  size_t gpu = 0;     // index in Target::gpus
  std::string label;  // "sm_90"
};
std::vector<MatrixColumn> MatrixColumns(const Target& target, const FileList& files);

/// A line of the matrix: a file, or several that run alike.
struct MatrixRow {
  std::string name;  // escaped
  bool several = false;
  std::string letters;  // one for each column
  DriverFloor floor;    // the highest among the GPUs that it runs on, or would with a newer driver
};

/// Problems first, then by path. When there are many files, those that run alike are cut to the
/// first few, and those that run on everything to one line, unless all are wanted.
std::vector<MatrixRow> MatrixRows(const Report& report, const FileList& files,
                                  const std::vector<MatrixColumn>& columns, bool all);

}  // namespace cuproof
