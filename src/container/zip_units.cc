#include "container/zip_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "bytes/parallel.h"
#include "container/content.h"
#include "container/wheel.h"
#include "container/zip_pool.h"

namespace cuproof {
namespace {

// METADATA is a description with a header of a few lines.
constexpr uint64_t kMetadataHead = 64 << 10;
// Members a thread takes at a time: enough to pay for the lease.
constexpr uint64_t kChunk = 256;
// A damaged zip can have a million unreadable members; the first ones say enough.
constexpr size_t kMaxProblems = 50;

/// What is left of the bounds for one zip on disk with all zips in it: a small file can hold zips
/// of zips of zips, each expanding a thousandfold.
struct Budget {
  uint64_t entries = kMaxZipEntries;
  uint64_t nested_bytes = 8ull << 30;
};

struct Sniffed {
  ZipMember member;
  Content content = Content::kOther;
  std::optional<Error> error;
};

Sniffed Sniff(const Zip& zip, uint64_t index) {
  Sniffed sniffed;
  sniffed.member = zip.Member(index);
  if (sniffed.member.folder || sniffed.member.size == 0) return sniffed;
  const auto head = zip.ReadHead(sniffed.member, kHeadSize);
  if (!head) {
    sniffed.error = head.error();
  } else {
    sniffed.content = TellContent(head->view(), sniffed.member.size);
  }
  return sniffed;
}

// Bytes of two members of a sound zip are different bytes of the zip. A bomb such as D. Fifield's
// lets thousands of members share the same compressed bytes.
bool Overlap(const std::vector<Sniffed>& members, uint64_t zip_size) {
  uint64_t left = zip_size;
  for (const Sniffed& sniffed : members) {
    if (sniffed.member.stored > left) return true;
    left -= sniffed.member.stored;
  }
  return false;
}

Error TooLarge(std::string phrase) {
  return {ErrorCode::kTooLarge, std::move(phrase), "", std::nullopt};
}

class ZipTaker {
 public:
  ZipTaker(const ZipOnDisk& zip, Inventory& inventory) : zip_(zip), inventory_(inventory) {}

  ZipFacts Take() {
    TakeLevel();
    return std::move(facts_);
  }

 private:
  // The zip that within_ leads to.
  void TakeLevel() {
    auto members = ListLevel();
    if (!members) {
      AddProblem(std::move(members.error()), Shown());
      return;
    }
    size_t unread = 0;
    for (const Sniffed& sniffed : *members) {
      if (sniffed.member.folder) continue;
      ++inventory_.files_seen;
      if (sniffed.error) {
        if (++unread <= kMaxProblems) AddProblem(*sniffed.error, Shown(sniffed.member.name));
      } else {
        TakeMember(sniffed);
      }
    }
    if (unread > kMaxProblems) {
      AddProblem(
          {ErrorCode::kNotReadable,
           fmt::format("{} more members cannot be read", unread - kMaxProblems), "", std::nullopt},
          Shown());
    }
  }

  Result<std::vector<Sniffed>> ListLevel() {
    const auto zip = LeaseZip(zip_.file, within_);
    if (!zip) return zip.error();
    const Zip& opened = **zip;
    if (opened.entries() > budget_.entries) {
      return TooLarge(
          fmt::format("zip and the zips in it have more than {} members", kMaxZipEntries));
    }
    budget_.entries -= opened.entries();
    std::vector<Sniffed> members = SniffAll(opened.entries());
    if (Overlap(members, opened.size())) {
      return TooLarge("members share bytes, as in a zip bomb: not looked into");
    }
    if (within_.empty()) ReadFacts(opened, members);
    return members;
  }

  std::vector<Sniffed> SniffAll(uint64_t entries) const {
    std::vector<Sniffed> members(entries);
    const uint64_t chunks = (entries + kChunk - 1) / kChunk;
    ParallelFor(chunks, ProcessorCount(), [&](size_t chunk) {
      const auto zip = LeaseZip(zip_.file, within_);
      const uint64_t end = std::min(entries, (chunk + 1) * kChunk);
      for (uint64_t i = chunk * kChunk; i < end; ++i) {
        if (!zip) {
          members[i].error = zip.error();
        } else {
          members[i] = Sniff(**zip, i);
        }
      }
    });
    return members;
  }

  void ReadFacts(const Zip& zip, const std::vector<Sniffed>& members) {
    for (const Sniffed& sniffed : members) {
      if (!IsWheelMetadata(sniffed.member.name)) continue;
      const auto text = zip.ReadHead(sniffed.member, kMetadataHead);
      facts_.wheel = true;
      facts_.name = WheelName(sniffed.member.name, text ? text->view().Text() : std::string_view());
      return;
    }
  }

  void TakeMember(const Sniffed& sniffed) {
    const ZipMember& member = sniffed.member;
    if (sniffed.content == Content::kOther) return;
    if (sniffed.content == Content::kZip) {
      TakeNested(member);
    } else if (sniffed.content == Content::kData && member.size > kMaxUnknownData) {
      Skip(member, "large data file not looked into: take it out and name it to check it");
    } else {
      AddUnit(member);
    }
  }

  void TakeNested(const ZipMember& member) {
    if (within_.size() + 1 >= kMaxZipDepth) {
      Skip(member, "zip within zips, too deep: take it out and name it to check it");
      return;
    }
    if (member.size > budget_.nested_bytes) {
      AddProblem(TooLarge("zips in this zip expand to too many bytes: not looked into"),
                 Shown(member.name));
      return;
    }
    budget_.nested_bytes -= member.size;
    within_.push_back({member.name, member.index});
    TakeLevel();
    within_.pop_back();
  }

  void AddUnit(const ZipMember& member) {
    Unit unit;
    unit.root = zip_.root;
    unit.file = zip_.file;
    unit.shown = Shown(member.name);
    unit.members = within_;
    unit.members.push_back({member.name, member.index});
    unit.size = member.size;
    inventory_.units.push_back(std::move(unit));
  }

  std::string Shown() const {
    std::string shown = zip_.shown;
    for (const Member& member : within_) shown += '!' + member.name;
    return shown;
  }
  std::string Shown(const std::string& member) const { return Shown() + '!' + member; }

  void AddProblem(Error error, std::string shown) {
    error.file = std::move(shown);
    inventory_.problems.push_back(std::move(error));
  }

  void Skip(const ZipMember& member, const char* reason) {
    inventory_.skipped.push_back(
        {ErrorCode::kUnsupported, reason, Shown(member.name), std::nullopt});
  }

  const ZipOnDisk& zip_;
  Inventory& inventory_;
  std::vector<Member> within_;
  Budget budget_;
  ZipFacts facts_;
};

}  // namespace

ZipFacts TakeZip(const ZipOnDisk& zip, Inventory& inventory) {
  return ZipTaker(zip, inventory).Take();
}

}  // namespace cuproof
