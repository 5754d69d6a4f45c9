#include "symbol/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace cuproof {
namespace {

constexpr size_t kMaxMangled = 1024;

}  // namespace

std::optional<std::string> Demangle(std::string_view mangled) {
  if (mangled.substr(0, 2) != "_Z" || mangled.size() > kMaxMangled) return std::nullopt;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || !text) return std::nullopt;
  return std::string(text.get());
}

std::string DemangledOrSame(std::string_view name) {
  auto text = Demangle(name);
  return text ? std::move(*text) : std::string(name);
}

}  // namespace cuproof
