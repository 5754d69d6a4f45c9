#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bytes/result.h"
#include "bytes/view.h"

namespace cuproof {

/// /etc/ld.so.cache in the format of glibc 2.2 and later ("glibc-ld.so.cache1.1"), also behind an
/// old one in the same file.
class LdCache {
 public:
  struct Entry {
    std::string path;
    int32_t flags = 0;   // kind and machine: 0x0303 is a libc6 library of x86-64
    std::string hwcaps;  // "x86-64-v3" for one below glibc-hwcaps/; empty for the rest
  };
  static Result<LdCache> Read(ByteView bytes);

  /// The entries of a name for a machine (EM_X86_64), in the order in which glibc would try them:
  /// those for better processors first. Only the first is used by glibc.
  std::vector<const Entry*> Find(std::string_view name, uint16_t machine,
                                 const std::vector<std::string>& hwcaps) const;
  size_t size() const { return size_; }

 private:
  std::unordered_map<std::string, std::vector<Entry>> entries_;
  size_t size_ = 0;
};

}  // namespace cuproof
