#pragma once
#include <string>

#include "image/file_images.h"
#include "output/layout.h"
#include "target/verdict.h"

namespace cuproof {

Tone OutcomeTone(Outcome outcome);

/// 'S', 'J', '-' or '?'.
char OutcomeLetter(Outcome outcome);

/// "runs", "does not run (209)".
std::string OutcomeWithError(Outcome outcome, Reason reason);

/// "sm_90", "PTX compute_80, ISA 9.1".
std::string ImageText(const Image& image);

/// Which image decides: "sm_90"; where none fits, "nearest: sm_80".
std::string DecidedBy(const FileImages& file, const FileVerdict& verdict);

/// Why, where neither the error number, the image nor the driver floor says it; else empty.
std::string ReasonText(Reason reason);

/// "580.65.06" or "r580"; empty: none known.
std::string FloorNumber(const DriverFloor& floor);

/// "580.65.06 or newer (CUDA 13 runtime)".
std::string FloorText(const DriverFloor& floor);

/// True when `a` asks for more than `b`. Numbers are compared part by part: 590.9 is below 590.44.
bool FloorAbove(const DriverFloor& a, const DriverFloor& b);

}  // namespace cuproof
