// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "BoxTile.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Axes up to this length are whole. Of those up to the next one, the part is what wastes least.
static constexpr int64_t kMaxWhole = 128, kMaxMedium = 512;
// Elements of a tile along a long axis: so many, or more where the other side of the tile is short.
static constexpr int64_t kLineBytes = 256, kMaxPart = 64, kLongestPart = 256;
static constexpr int64_t kTileElements = 4096, kTileBytes = 16 << 10;
// Of a tile that a thread moves, so that its first instructions, which compute places, are few.
static constexpr int64_t kElementsOfThread = 16, kMinThreads = 64;
// Threads of a line that may be idle for the sake of banks.
static constexpr int64_t kMaxIdle = 6;

BoxTile::BoxTile(const Transposition &transposition) {
  auto type = cast<RankedTensorType>(transposition.op->getResult(0).getType());
  bytes = memoryBytes(type.getElementType());
  elements = std::max<int64_t>(1, kBankBytes / bytes);
  chooseExtents(transposition, type.getShape());
  chooseThreads();
}

//===- Extents ------------------------------------------------------------===//

// Whole warps, with the fewest threads outside of the axis, and sectors of memory that lines share.
static int64_t partOfMedium(int64_t size, int64_t bytes, int64_t target) {
  int64_t best = 0;
  double least = 0;
  for (int64_t part = kWarpThreads; part <= std::max(target, kMaxPart); part += kWarpThreads) {
    double cost = llvm::alignTo(size, part) * (1 + double(kSectorBytes) / (part * bytes));
    if (best == 0 || cost <= least)
      std::tie(best, least) = std::pair(part, cost);
  }
  return best;
}

static TileSide sideAlong(ArrayRef<int64_t> axes, ArrayRef<int64_t> shape, int64_t bytes, int64_t target) {
  TileSide side{SmallVector<int64_t>(axes)};
  for (int64_t axis : axes.drop_front())
    side.inner *= shape[axis];
  int64_t size = shape[axes.front()];
  side.part = std::max<int64_t>(1, target / side.inner);
  if (!ShapedType::isDynamic(size) && side.inner > 1)
    side.part = llvm::divideCeil(size, llvm::divideCeil(size, side.part));
  else if (!ShapedType::isDynamic(size) && size <= std::max(kMaxWhole, target))
    side.part = size;
  else if (!ShapedType::isDynamic(size) && size <= kMaxMedium)
    side.part = partOfMedium(size, bytes, target);
  side.isWhole = !ShapedType::isDynamic(size) && size % side.part == 0;
  return side;
}

// The one that is cut anyway, or the longer one.
static TileSide &sideToCut(TileSide &read, TileSide &write, ArrayRef<int64_t> shape) {
  auto isCut = [&](const TileSide &side) { return side.part != shape[side.axes.front()]; };
  if (isCut(read) != isCut(write))
    return isCut(read) ? read : write;
  return read.extent() > write.extent() ? read : write;
}

void BoxTile::chooseExtents(const Transposition &transposition, ArrayRef<int64_t> shape) {
  int64_t target = std::min(kLineBytes / bytes, kMaxPart);
  auto beside = [&](const TileSide &other) -> int64_t {
    int64_t most = std::min(kTileElements, kTileBytes / bytes) / other.extent();
    return std::clamp<int64_t>(llvm::alignDown(most, kWarpThreads), kWarpThreads, kLongestPart);
  };
  read = sideAlong(transposition.readAxes, shape, bytes, target);
  write = sideAlong(transposition.writeAxes, shape, bytes, target);
  if (read.extent() * write.extent() * bytes > kTileBytes) {
    TileSide &side = sideToCut(read, write, shape);
    side.part = std::max<int64_t>(1, beside(&side == &read ? write : read) / side.inner);
    side.isWhole =
        shape[side.axes.front()] % side.part == 0 && !ShapedType::isDynamic(shape[side.axes.front()]);
    return;
  }
  read = sideAlong(transposition.readAxes, shape, bytes, std::max(target, beside(write)));
  write = sideAlong(transposition.writeAxes, shape, bytes, std::max(target, beside(read)));
}

//===- Threads and banks --------------------------------------------------===//

// The last threads may store a row of words after those of the tile.
int64_t BoxTile::wordsOfLine() const {
  return llvm::alignTo(llvm::divideCeil(write.extent(), elements), threads / read.threads);
}

// Threads of a warp that want different words of the same bank at once, beyond one for each bank. A thread
// has the element `place` of the line `line`, both below what `wordAt` takes.
static int64_t conflictsOf(int64_t threads, const TileSide &along, int64_t banks,
                           function_ref<int64_t(int64_t place, int64_t line)> wordAt) {
  int64_t conflicts = 0;
  for (int64_t first = 0; first < threads; first += banks) {
    SmallVector<int64_t> words;
    for (int64_t thread = first; thread < first + banks; ++thread)
      if (thread % along.threads < along.extent() && thread / along.threads < threads / along.threads)
        words.push_back(wordAt(thread % along.threads, thread / along.threads));
    llvm::sort(words);
    words.erase(llvm::unique(words), words.end());
    SmallVector<int64_t> inBank(banks);
    for (int64_t word : words)
      conflicts += inBank[word % banks]++ > 0;
  }
  return conflicts;
}

// Of the first lines of the threads; the others are a constant further.
int64_t BoxTile::countConflicts() const {
  int64_t banks = kBankRowBytes / wordBytes();
  auto stored = [&](int64_t place, int64_t row) { return place * pitch + row; };
  auto loaded = [&](int64_t place, int64_t line) { return line * pitch + place / elements; };
  return conflictsOf(threads, read, banks, stored) + conflictsOf(threads, write, banks, loaded);
}

// The shortest with the fewest conflicts.
void BoxTile::choosePitch() {
  int64_t words = wordsOfLine(), best = -1, fewest = 0;
  for (pitch = words; pitch < words + kBankRowBytes / wordBytes() && (best < 0 || fewest > 0); ++pitch) {
    int64_t conflicts = countConflicts();
    if (best < 0 || conflicts < fewest)
      std::tie(best, fewest) = std::pair(pitch, conflicts);
  }
  pitch = best;
}

// Where lines are whole warps, an odd pitch keeps their threads in different banks. Warps that go on in the
// next line may need some idle threads, too.
void BoxTile::chooseThreads() {
  int64_t wanted = std::clamp(read.extent() * write.extent() / kElementsOfThread, kMinThreads, kBlockThreads);
  auto choose = [&](int64_t ofRead, int64_t ofWrite) {
    read.threads = ofRead;
    write.threads = ofWrite;
    threads = llvm::alignTo(std::max({wanted, ofRead, ofWrite}), kWarpThreads);
    choosePitch();
  };
  auto mostIdle = [](const TileSide &side) {
    return side.extent() % kWarpThreads == 0 ? 0 : std::min(kMaxIdle, kBlockThreads - side.extent());
  };
  for (int64_t idle = 0; idle <= 2 * kMaxIdle; ++idle)
    for (int64_t ofRead = 0; ofRead <= std::min(idle, mostIdle(read)); ++ofRead)
      if (idle - ofRead <= mostIdle(write)) {
        choose(read.extent() + ofRead, write.extent() + idle - ofRead);
        if (countConflicts() == 0)
          return;
      }
  choose(read.extent(), write.extent());
}
