#pragma once
#include <string>

#include "image/file_images.h"
#include "output/style.h"

namespace cuproof {

/// One line for each image, with fixed columns: offset, kind, target, version, toolkit,
/// compression, stored and expanded size, section, then what only some have. Lines are not broken:
/// they are made to be searched. The largest library met has 23,984.
void AppendImageList(const FileImages& file, const Style& style, std::string& out);

}  // namespace cuproof
