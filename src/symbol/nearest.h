#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbol/demangle.h"
#include "symbol/dynamic_object.h"

namespace cuproof {

/// What is different between a wanted name and one that is there.
enum class NameDifference : uint8_t {
  kStringAbi,   // the same function with the other std::string
  kOptional,    // c10::optional against std::optional
  kParameters,  // the same function with other parameters
  kReturnType,  // only the result of a template
  kSuffix,      // const, & and && of a member
  kTemplate,    // the same template with other arguments
  kScope,       // the same last name and parameters in another namespace or class
};

const char* NameDifferenceName(NameDifference difference);

/// A parameter list with the parts that differ.
struct MarkedPart {
  std::string text;
  bool differs = false;
};

/// A name that is there, instead of one that is wanted.
struct NearestName {
  std::string mangled;  // the one that is there
  CxxName wanted;
  CxxName has;
  NameDifference difference = NameDifference::kParameters;
  std::vector<MarkedPart> wanted_parts;  // parameters; runs that are equal are cut to "…"
  std::vector<MarkedPart> has_parts;
  /// "wants c10::f(…, int, bool), has c10::f(…, unsigned int, bool)"
  std::string Sentence() const;
};

/// The exports of a set of objects by the function they name, made once for many questions. Only
/// the raw names are kept until a question demangles those that come near.
class ExportIndex {
 public:
  /// `where` comes back with an answer. The names must outlive the index.
  void Add(const DynamicObject& object, uint32_t where);
  void AddName(std::string_view mangled, uint32_t where);

  struct Answer {
    NearestName nearest;
    uint32_t where = 0;
  };
  /// The nearest ones first, at most `limit`.
  std::vector<Answer> Nearest(std::string_view wanted, size_t limit = 3) const;

 private:
  struct Entry {
    std::string_view name;
    uint32_t where;
  };
  std::unordered_map<uint64_t, std::vector<Entry>> by_function_;  // hash of the identifiers in it
};

}  // namespace cuproof
