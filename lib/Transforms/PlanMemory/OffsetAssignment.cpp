// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "OffsetAssignment.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <set>

using namespace mlir;
using namespace mlir::ad;

// With more pairs of buffers that are live together, only one strategy runs: planning stays linear in very
// long programs.
static constexpr int64_t kPairLimit = 1 << 20;

namespace {
struct Item {
  int64_t bytes, first, last;
  int64_t length() const { return last - first + 1; }
};

struct Layout {
  SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};

/// Buffers get their offsets by descending key, each in the smallest gap or in the first one.
struct Strategy {
  StringLiteral name;
  double (*key)(const Item &);
  bool smallestGap;
};

// Large buffers fit into few gaps; long-lived ones conflict with most others.
constexpr Strategy kStrategies[] = {
    {"largest first", [](const Item &i) { return double(i.bytes); }, false},
    {"largest first, smallest gap", [](const Item &i) { return double(i.bytes); }, true},
    {"longest first", [](const Item &i) { return double(i.length()); }, false},
    {"longest first, smallest gap", [](const Item &i) { return double(i.length()); }, true},
    {"largest area first", [](const Item &i) { return double(i.bytes) * double(i.length()); }, false},
    {"largest area first, smallest gap", [](const Item &i) { return double(i.bytes) * double(i.length()); },
     true},
    {"earliest first", [](const Item &i) { return -double(i.first); }, false},
    {"earliest first, smallest gap", [](const Item &i) { return -double(i.first); }, true},
    {"latest first", [](const Item &i) { return double(i.last); }, false},
    {"latest first, smallest gap", [](const Item &i) { return double(i.last); }, true},
};

class OffsetAssigner {
public:
  explicit OffsetAssigner(ArrayRef<Item> items) : items(items) {
    for (unsigned i = 0; i < items.size(); ++i)
      byStart.push_back(i);
    llvm::sort(byStart, [&](unsigned a, unsigned b) { return startsEarlier(a, b); });
  }

  void findLargestLiveSet(PoolSummary &summary);
  bool findConflicts();
  Layout assign(const Strategy &strategy);
  Layout scan();

private:
  int64_t findGap(unsigned item, const Layout &layout, bool smallest);
  // Those that start together keep their order. llvm::stable_sort would do as well, but headers of GCC 12
  // warn of it.
  bool startsEarlier(unsigned a, unsigned b) const {
    return std::pair(items[a].first, a) < std::pair(items[b].first, b);
  }

  ArrayRef<Item> items;
  SmallVector<unsigned> byStart;
  SmallVector<SmallVector<unsigned, 0>, 0> conflicts; // the items that are live with each item
};
} // namespace

void OffsetAssigner::findLargestLiveSet(PoolSummary &summary) {
  std::multimap<int64_t, int64_t> ends; // last, bytes
  int64_t live = 0;
  for (unsigned i : byStart) {
    while (!ends.empty() && ends.begin()->first < items[i].first) {
      live -= ends.begin()->second;
      ends.erase(ends.begin());
    }
    live += items[i].bytes;
    ends.emplace(items[i].last, items[i].bytes);
    if (live > summary.live) {
      summary.live = live;
      summary.liveAt = items[i].first;
    }
  }
}

// False when there are too many pairs.
bool OffsetAssigner::findConflicts() {
  conflicts.resize(items.size());
  SmallVector<unsigned> active;
  int64_t pairs = 0;
  for (unsigned i : byStart) {
    llvm::erase_if(active, [&](unsigned other) { return items[other].last < items[i].first; });
    pairs += active.size();
    if (pairs > kPairLimit)
      return false;
    for (unsigned other : active) {
      conflicts[i].push_back(other);
      conflicts[other].push_back(i);
    }
    active.push_back(i);
  }
  return true;
}

int64_t OffsetAssigner::findGap(unsigned item, const Layout &layout, bool smallest) {
  SmallVector<std::pair<int64_t, int64_t>, 32> occupied;
  for (unsigned other : conflicts[item])
    if (layout.offsets[other] >= 0)
      occupied.emplace_back(layout.offsets[other], layout.offsets[other] + items[other].bytes);
  llvm::sort(occupied);
  int64_t end = 0, best = -1, bestGap = 0;
  for (auto [from, to] : occupied) {
    int64_t gap = from - end;
    if (gap >= items[item].bytes && (best < 0 || (smallest && gap < bestGap))) {
      best = end;
      bestGap = gap;
    }
    end = std::max(end, to);
  }
  return best < 0 ? end : best;
}

Layout OffsetAssigner::assign(const Strategy &strategy) {
  SmallVector<unsigned> order(byStart);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    double keyA = strategy.key(items[a]), keyB = strategy.key(items[b]);
    if (keyA != keyB)
      return keyA > keyB;
    return items[a].bytes != items[b].bytes ? items[a].bytes > items[b].bytes : startsEarlier(a, b);
  });
  Layout layout;
  layout.offsets.assign(items.size(), -1);
  for (unsigned item : order) {
    layout.offsets[item] = findGap(item, layout, strategy.smallestGap);
    layout.bytes = std::max(layout.bytes, layout.offsets[item] + items[item].bytes);
  }
  return layout;
}

namespace {
/// Free gaps between buffers, by offset and by size.
class Gaps {
public:
  void add(int64_t offset, int64_t bytes);
  /// Allocates the bytes in the smallest gap that has them, and returns the offset; -1 when none has.
  int64_t allocate(int64_t bytes);
  /// Bytes of the gap that ends there, or 0.
  int64_t bytesBefore(int64_t end) const;

private:
  std::map<int64_t, int64_t> gaps;              // offset, bytes
  std::set<std::pair<int64_t, int64_t>> bySize; // bytes, offset
};
} // namespace

void Gaps::add(int64_t offset, int64_t bytes) {
  auto next = gaps.lower_bound(offset);
  if (next != gaps.end() && next->first == offset + bytes) {
    bytes += next->second;
    bySize.erase({next->second, next->first});
    next = gaps.erase(next);
  }
  if (next != gaps.begin())
    if (auto before = std::prev(next); before->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      bySize.erase({before->second, before->first});
      gaps.erase(before);
    }
  gaps[offset] = bytes;
  bySize.insert({bytes, offset});
}

int64_t Gaps::allocate(int64_t bytes) {
  auto gap = bySize.lower_bound({bytes, 0});
  if (gap == bySize.end())
    return -1;
  auto [size, offset] = *gap;
  bySize.erase(gap);
  gaps.erase(offset);
  if (size > bytes)
    add(offset + bytes, size - bytes);
  return offset;
}

int64_t Gaps::bytesBefore(int64_t end) const {
  bool endsThere = !gaps.empty() && gaps.rbegin()->first + gaps.rbegin()->second == end;
  return endsThere ? gaps.rbegin()->second : 0;
}

// In the order of the program, each buffer gets the smallest gap that is free when its lifetime starts.
Layout OffsetAssigner::scan() {
  Layout layout;
  layout.offsets.assign(items.size(), -1);
  Gaps gaps;
  std::multimap<int64_t, unsigned> ends; // last, item
  for (unsigned item : byStart) {
    for (; !ends.empty() && ends.begin()->first < items[item].first; ends.erase(ends.begin()))
      gaps.add(layout.offsets[ends.begin()->second], items[ends.begin()->second].bytes);
    int64_t bytes = items[item].bytes, offset = gaps.allocate(bytes);
    if (offset < 0) {
      // The gap at the end grows.
      int64_t more = bytes - gaps.bytesBefore(layout.bytes);
      gaps.add(layout.bytes, more);
      layout.bytes += more;
      offset = gaps.allocate(bytes);
    }
    layout.offsets[item] = offset;
    ends.emplace(items[item].last, item);
  }
  return layout;
}

PoolSummary ad::assignOffsets(ArrayRef<PlannedBuffer *> buffers, int64_t alignment) {
  SmallVector<Item> items;
  PoolSummary summary;
  for (const PlannedBuffer *buffer : buffers) {
    int64_t bytes = llvm::alignTo(std::max<int64_t>(buffer->bytes, 1), alignment);
    items.push_back({bytes, buffer->first, buffer->last});
    summary.total += bytes;
  }
  OffsetAssigner assigner(items);
  assigner.findLargestLiveSet(summary);
  Layout best = assigner.scan();
  summary.order = "one scan";
  if (best.bytes > summary.live && assigner.findConflicts())
    for (const Strategy &strategy : kStrategies) {
      Layout layout = assigner.assign(strategy);
      if (layout.bytes < best.bytes) {
        best = std::move(layout);
        summary.order = strategy.name;
      }
      if (best.bytes == summary.live)
        break;
    }
  summary.used = best.bytes;
  for (auto [buffer, offset] : llvm::zip_equal(buffers, best.offsets))
    buffer->offset = offset;
  return summary;
}
