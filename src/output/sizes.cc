#include "output/sizes.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "output/image_groups.h"

namespace cuproof {
namespace {

struct Range {
  uint64_t begin;
  uint64_t end;
};

// The bytes of a file that have been counted: ranges in order, apart from each other.
class Counted {
 public:
  explicit Counted(uint64_t file_size) : file_size_(file_size) {}

  /// Counts a layer of ranges and returns for each how many bytes of it were not counted before.
  std::vector<uint64_t> Add(const std::vector<NamedRange>& layer) {
    std::vector<size_t> order(layer.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return layer[a].offset < layer[b].offset; });
    std::vector<uint64_t> fresh(layer.size(), 0);
    std::vector<Range> added;
    uint64_t cursor = 0;  // ranges of one layer may overlap too: the first one has the bytes
    size_t at = 0;
    for (const size_t i : order) {
      const uint64_t begin = std::max(cursor, std::min(layer[i].offset, file_size_));
      const uint64_t left = file_size_ - std::min(layer[i].offset, file_size_);
      const uint64_t end = file_size_ - left + std::min(left, layer[i].size);
      if (end <= begin) continue;
      cursor = end;
      fresh[i] = end - begin - Overlap({begin, end}, at);
      added.push_back({begin, end});
    }
    Merge(added);
    return fresh;
  }

  uint64_t total() const {
    uint64_t sum = 0;
    for (const Range& range : ranges_) sum += range.end - range.begin;
    return sum;
  }

 private:
  // Bytes of `range` that ranges_ holds. `at` moves along: ranges are asked for in order.
  uint64_t Overlap(Range range, size_t& at) const {
    while (at < ranges_.size() && ranges_[at].end <= range.begin) ++at;
    uint64_t sum = 0;
    for (size_t i = at; i < ranges_.size() && ranges_[i].begin < range.end; ++i) {
      sum += std::min(range.end, ranges_[i].end) - std::max(range.begin, ranges_[i].begin);
    }
    return sum;
  }

  void Merge(const std::vector<Range>& added) {
    std::vector<Range> all;
    all.reserve(ranges_.size() + added.size());
    std::merge(ranges_.begin(), ranges_.end(), added.begin(), added.end(), std::back_inserter(all),
               [](const Range& a, const Range& b) { return a.begin < b.begin; });
    ranges_.clear();
    for (const Range& range : all) {
      if (!ranges_.empty() && range.begin <= ranges_.back().end) {
        ranges_.back().end = std::max(ranges_.back().end, range.end);
      } else {
        ranges_.push_back(range);
      }
    }
  }

  uint64_t file_size_;
  std::vector<Range> ranges_;
};

void AddImages(const FileImages& file, Counted& counted, std::vector<SizeItem>& items) {
  std::vector<NamedRange> layer;
  layer.reserve(file.images.size());
  for (const Image& image : file.images) layer.push_back({image.offset, image.padded_size, ""});
  const std::vector<uint64_t> fresh = counted.Add(layer);
  std::map<std::pair<ImageKind, Arch>, SizeItem> by_target;
  for (size_t i = 0; i < fresh.size(); ++i) {
    const Image& image = file.images[i];
    SizeItem& item = by_target[{image.kind, image.arch}];
    item.group = SizeGroup::kImages;
    item.bytes += fresh[i];
    ++item.count;
    if (item.what.empty()) item.what = ImageTarget(image);
  }
  const size_t first = items.size();
  for (auto& [key, item] : by_target) items.push_back(std::move(item));
  std::stable_sort(items.begin() + static_cast<ptrdiff_t>(first), items.end(),
                   [](const SizeItem& a, const SizeItem& b) { return a.bytes > b.bytes; });
}

void AddContainers(const FileImages& file, Counted& counted, std::vector<SizeItem>& items) {
  std::vector<NamedRange> layer;
  layer.reserve(file.modules.size());
  for (const Module& module : file.modules) layer.push_back({module.offset, module.size, ""});
  SizeItem item{SizeGroup::kContainers, "container headers", 0, 0};
  for (const uint64_t bytes : counted.Add(layer)) item.bytes += bytes;
  for (const Module& module : file.modules) item.count += module.kind == ModuleKind::kContainer;
  if (item.bytes > 0) items.push_back(std::move(item));
}

void AddSections(const FileImages& file, size_t largest, Counted& counted,
                 std::vector<SizeItem>& items) {
  const std::vector<uint64_t> fresh = counted.Add(file.host.ranges);
  std::map<std::string_view, SizeItem> by_name;
  for (size_t i = 0; i < fresh.size(); ++i) {
    if (fresh[i] == 0) continue;
    SizeItem& item = by_name[file.host.ranges[i].name];
    item.group = SizeGroup::kSection;
    item.bytes += fresh[i];
    ++item.count;
  }
  std::vector<SizeItem> sections;
  for (auto& [name, item] : by_name) {
    item.what = name;
    sections.push_back(std::move(item));
  }
  std::stable_sort(sections.begin(), sections.end(),
                   [](const SizeItem& a, const SizeItem& b) { return a.bytes > b.bytes; });
  SizeItem other{SizeGroup::kOtherSections, "other", 0, 0};
  for (size_t i = 0; i < sections.size(); ++i) {
    // One left over has a name that is shorter than "other".
    if (i < largest || sections.size() == largest + 1) {
      items.push_back(std::move(sections[i]));
      continue;
    }
    other.bytes += sections[i].bytes;
    other.count += sections[i].count;
  }
  if (other.bytes > 0) items.push_back(std::move(other));
}

}  // namespace

const char* SizeGroupId(SizeGroup group) {
  switch (group) {
    case SizeGroup::kImages:
      return "images";
    case SizeGroup::kContainers:
      return "containers";
    case SizeGroup::kSection:
      return "section";
    case SizeGroup::kOtherSections:
      return "other-sections";
    case SizeGroup::kRest:
      break;
  }
  return "rest";
}

std::vector<SizeItem> SizeBreakdown(const FileImages& file, size_t largest) {
  std::vector<SizeItem> items;
  Counted counted(file.size);
  AddImages(file, counted, items);
  AddContainers(file, counted, items);
  AddSections(file, largest, counted, items);
  const uint64_t rest = file.size - counted.total();
  if (rest > 0 || items.empty()) items.push_back({SizeGroup::kRest, "rest", rest, 0});
  return items;
}

}  // namespace cuproof
