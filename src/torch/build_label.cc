#include "torch/build_label.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace cuproof {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return c >= 'a' && c <= 'z'; }

std::string_view Digits(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), IsDigit);
  return text.substr(0, static_cast<size_t>(end - text.begin()));
}

uint8_t Number(std::string_view digits) {
  uint8_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() ? number : uint8_t{0};
}

// What follows `word`, where the letter before it is none: "cu" of "+cu121", not of "occu1".
std::string_view Behind(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if (at == 0 || !IsLetter(text[at - 1])) return text.substr(at + word.size());
  }
  return {};
}

// "121" is 12.1, "12" is 12, "118" is 11.8, "130" is 13.0.
uint8_t CudaMajor(std::string_view digits) {
  if (digits.size() != 2 && digits.size() != 3) return 0;
  const uint8_t major = Number(digits.substr(0, 2));
  return major >= 10 && major < 20 ? major : uint8_t{0};
}

// "2.6", "26", "210": torch is at 2 since 2023.
void TakeTorch(std::string_view text, BuildLabel& label) {
  const std::string_view major = Digits(text);
  if (major.size() == 1 && text.size() > 2 && text[1] == '.') {
    const std::string_view minor = Digits(text.substr(2));
    if (minor.empty() || minor.size() > 2) return;
    label.torch_major = Number(major);
    label.torch_minor = Number(minor);
  } else if ((major.size() == 2 || major.size() == 3) && major[0] == '2') {
    label.torch_major = 2;
    label.torch_minor = Number(major.substr(1));
  }
}

bool IsVariantFolder(std::string_view part) {
  return part.starts_with("torch") && part.size() > 6 && IsDigit(part[5]) &&
         part.find('-') != std::string_view::npos;
}

}  // namespace

std::string BuildLabel::Torch() const { return fmt::format("{}.{}", torch_major, torch_minor); }

BuildLabel ReadBuildLabel(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  BuildLabel label;
  label.text = text;
  const std::string_view rest(lower);
  label.cuda_major = CudaMajor(Digits(Behind(rest, "cu")));
  const std::string_view flag = Behind(rest, "cxx11abi");
  if (flag.starts_with("true") || flag.starts_with("1")) label.abi = StringAbi::kNew;
  if (flag.starts_with("false") || flag.starts_with("0")) label.abi = StringAbi::kOld;
  if (IsVariantFolder(rest)) {
    if (rest.find("-cxx11-") != std::string_view::npos) label.abi = StringAbi::kNew;
    if (rest.find("-cxx98-") != std::string_view::npos) label.abi = StringAbi::kOld;
  }
  TakeTorch(Behind(rest, "torch"), label);
  if (label.torch_major == 0) {
    // PyG's wheels: "2.1.2+pt26cu124".
    const size_t local = rest.find("+pt");
    if (local != std::string_view::npos) TakeTorch(rest.substr(local + 3), label);
  }
  return label;
}

BuildLabel LabelOfPath(std::string_view path) {
  while (!path.empty()) {
    const size_t end = std::min(path.find_first_of("/!"), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    BuildLabel label;
    if (part.ends_with(".whl")) {
      // name-version-python-abi-platform
      const size_t version = part.find('-');
      if (version == std::string_view::npos) continue;
      const std::string_view rest = part.substr(version + 1);
      label = ReadBuildLabel(rest.substr(0, rest.find('-')));
    } else if (IsVariantFolder(part)) {
      label = ReadBuildLabel(part);
    }
    if (!label.empty()) return label;
  }
  return {};
}

}  // namespace cuproof
