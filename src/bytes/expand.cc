#include "bytes/expand.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <climits>
#include <new>

namespace cuproof {
namespace {

Error Damaged(std::string phrase) {
  return {ErrorCode::kBadCompressed, std::move(phrase), "", std::nullopt};
}

struct ContextDeleter {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// A context costs 150 KB to build: one a thread, reused.
ZSTD_DCtx* ThreadContext() {
  thread_local std::unique_ptr<ZSTD_DCtx, ContextDeleter> context(ZSTD_createDCtx());
  if (!context) throw std::bad_alloc();
  return context.get();
}

Result<Buffer> ExpandZstd(ByteView stored, uint64_t raw_size) {
  const unsigned long long declared = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (declared == ZSTD_CONTENTSIZE_ERROR) return Damaged("expected a zstd frame, got other bytes");
  if (declared != ZSTD_CONTENTSIZE_UNKNOWN && declared != raw_size) {
    return Damaged(
        fmt::format("the zstd frame says {} bytes, the entry header {}", declared, raw_size));
  }
  auto out = Buffer::OfSize(raw_size);
  if (!out) return out;
  const size_t got =
      ZSTD_decompressDCtx(ThreadContext(), out->data(), raw_size, stored.data(), stored.size());
  if (ZSTD_isError(got)) return Damaged(fmt::format("zstd: {}", ZSTD_getErrorName(got)));
  if (got != raw_size)
    return Damaged(fmt::format("expanded to {} bytes, expected {}", got, raw_size));
  return out;
}

Result<Buffer> ExpandLz4(ByteView stored, uint64_t raw_size) {
  if (raw_size > INT_MAX || stored.size() > INT_MAX) return Damaged("LZ4 block past 2 GiB");
  auto out = Buffer::OfSize(raw_size);
  if (!out) return out;
  const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(stored.data()),
                                      reinterpret_cast<char*>(out->data()),
                                      static_cast<int>(stored.size()), static_cast<int>(raw_size));
  if (got < 0) return Damaged("the LZ4 block is damaged");
  if (static_cast<uint64_t>(got) != raw_size) {
    return Damaged(fmt::format("expanded to {} bytes, expected {}", got, raw_size));
  }
  return out;
}

}  // namespace

Result<Buffer> Buffer::OfSize(uint64_t size) {
  try {
    return Buffer(size);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kTooLarge, fmt::format("no memory for {} bytes", size), "",
                 std::nullopt};
  }
}

const char* CompressionName(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return "none";
    case Compression::kLz4Block:
      return "lz4";
    case Compression::kLz4Frame:
      return "lz4-frame";
    case Compression::kZstd:
      return "zstd";
  }
  return "unknown";
}

Result<Buffer> Expand(Compression compression, ByteView stored, uint64_t raw_size) {
  const bool bomb = raw_size > kAnyRatioUpTo && raw_size / kMaxRatio > stored.size();
  if (raw_size > kMaxExpanded || bomb) {
    return Error{ErrorCode::kTooLarge,
                 fmt::format("{} stored bytes claim to expand to {}; the bound is {} bytes, and "
                             "{} to 1 past {}",
                             stored.size(), raw_size, kMaxExpanded, kMaxRatio, kAnyRatioUpTo),
                 "", std::nullopt};
  }
  switch (compression) {
    case Compression::kZstd:
      return ExpandZstd(stored, raw_size);
    case Compression::kLz4Block:
      return ExpandLz4(stored, raw_size);
    case Compression::kNone: {
      if (stored.size() != raw_size) {
        return Damaged(fmt::format("{} bytes stored plain, expected {}", stored.size(), raw_size));
      }
      auto out = Buffer::OfSize(raw_size);
      if (out) std::copy_n(stored.data(), raw_size, out->data());
      return out;
    }
    case Compression::kLz4Frame:
      break;
  }
  return Error{ErrorCode::kUnsupported, "LZ4 frames are listed, not expanded", "", std::nullopt};
}

Buffer ExpandPrefix(Compression compression, ByteView stored, uint64_t limit) {
  if (compression == Compression::kNone) limit = std::min(limit, stored.size());
  Buffer out(limit);
  uint64_t got = 0;
  if (compression == Compression::kNone) {
    std::copy_n(stored.data(), limit, out.data());
    got = limit;
  } else if (compression == Compression::kLz4Block && stored.size() <= INT_MAX &&
             limit <= INT_MAX) {
    const int count = LZ4_decompress_safe_partial(
        reinterpret_cast<const char*>(stored.data()), reinterpret_cast<char*>(out.data()),
        static_cast<int>(stored.size()), static_cast<int>(limit), static_cast<int>(limit));
    got = count > 0 ? static_cast<uint64_t>(count) : 0;
  } else if (compression == Compression::kZstd) {
    ZSTD_DCtx* context = ThreadContext();
    ZSTD_DCtx_reset(context, ZSTD_reset_session_only);
    ZSTD_inBuffer in = {stored.data(), stored.size(), 0};
    ZSTD_outBuffer to = {out.data(), limit, 0};
    while (to.pos < to.size) {
      const size_t before_in = in.pos;
      const size_t before_out = to.pos;
      const size_t left = ZSTD_decompressStream(context, &to, &in);
      if (ZSTD_isError(left) || left == 0) break;
      if (in.pos == before_in && to.pos == before_out) break;
    }
    got = to.pos;
    ZSTD_DCtx_reset(context, ZSTD_reset_session_only);
  }
  out.Shrink(got);
  return out;
}

Result<ZstdFrame> ReadZstdFrame(ByteView bytes) {
  const unsigned long long raw = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (raw == ZSTD_CONTENTSIZE_ERROR || raw == ZSTD_CONTENTSIZE_UNKNOWN) {
    return Damaged("no zstd frame with a content size");
  }
  const size_t stored = ZSTD_findFrameCompressedSize(bytes.data(), bytes.size());
  if (ZSTD_isError(stored)) return Damaged("the zstd frame ends before its last block");
  return ZstdFrame{stored, raw};
}

}  // namespace cuproof
