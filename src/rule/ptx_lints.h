#pragma once
#include <functional>
#include <vector>

#include "container/unit.h"
#include "resource/kernel_survey.h"
#include "rule/report.h"

namespace cuproof {

/// Notes on what the PTX in these files shows: CP411 to CP414. The same PTX in several images is
/// told once a file.
std::vector<Finding> PtxLints(const Inventory& inventory, unsigned threads,
                              std::vector<Error>& problems);

/// Takes out CP414 of kernels whose cubins, as far as they were read, have no stack: ptxas found
/// registers for the array.
void DropArraysInRegisters(const Survey& survey, std::vector<Finding>& findings);

}  // namespace cuproof
