#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "bytes/result.h"
#include "bytes/view.h"
#include "image/cubin.h"

namespace cuproof {

struct CubinSection {
  std::string_view name;
  uint32_t type = 0;
  uint64_t flags = 0;
  uint32_t info = 0;
  uint64_t size = 0;  // as the header says; a section without bytes in the file has one, too
  ByteView content;
};

struct CubinSymbol {
  uint32_t name = 0;      // where it stands among the names
  uint8_t type = 0;       // STT_FUNC and the like
  bool is_entry = false;  // STO_CUDA_ENTRY: a kernel
  uint32_t section = 0;   // index
  uint64_t value = 0;     // offset in the section
  uint64_t size = 0;
};

/// The sections and symbols of the cubin at the start of some bytes, which must outlive it.
class CubinSections {
 public:
  static Result<CubinSections> Open(ByteView bytes);

  const CubinInfo& info() const { return info_; }
  uint64_t size() const { return size_; }  // bytes of the cubin
  const std::vector<CubinSection>& sections() const { return sections_; }
  uint64_t symbol_count() const;
  /// Empty past the end.
  CubinSymbol Symbol(uint64_t index) const;
  /// Looks at no more bytes than `name` has: names of symbols can be many and overlap.
  bool IsNamed(const CubinSymbol& symbol, std::string_view name) const;
  bool StartsWith(const CubinSymbol& symbol, std::string_view prefix) const;
  /// All names of symbols, one after another.
  std::string_view symbol_names() const { return symbol_names_.Text(); }

 private:
  CubinInfo info_;
  uint64_t size_ = 0;
  std::vector<CubinSection> sections_;
  ByteView symbols_;
  ByteView symbol_names_;
};

}  // namespace cuproof
