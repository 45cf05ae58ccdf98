// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Microseconds on an H200, which follow the predictions of docs/gpu-cost-sheet.md. They only choose.

#include "AttentionTimes.h"
#include "Fma/FmaShape.h"
#include "Mma/MmaShape.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Sizes that are not known: a cache is long, and its batches fill the machine.
static constexpr int64_t kManyKeys = 4096;
// Each microsecond the memory gives so many bytes, and all multiprocessors execute so many instructions of
// a thread.
static constexpr double kBytes = 4e6, kInstructions = 19e6;

namespace {
struct Work {
  explicit Work(const AttentionShape &attention) {
    int64_t ofKeys = attention.key.getDimSize(2), batch = attention.query.getDimSize(0);
    keys = static_cast<double>(ShapedType::isDynamic(ofKeys) ? kManyKeys : ofKeys);
    sequences =
        static_cast<double>(ShapedType::isDynamic(batch) ? kDefaultSMCount : batch * attention.groups);
    elements = static_cast<double>(attention.depth + attention.width);
    int64_t bytes = llvm::divideCeil(attention.element.getIntOrFloatBitWidth(), 8);
    memory = sequences * keys * elements * static_cast<double>(bytes) / kBytes;
  }
  double keys, sequences;
  double elements; ///< of a key and its value
  double memory;   ///< the time of the operands

  double compute(int64_t rows, double fixed, double ofElement) const {
    return sequences * static_cast<double>(rows) * keys * (fixed + ofElement * elements) / kInstructions;
  }
};
} // namespace

// A tile goes through its chunks one after the other, and computes rows that it lacks, too.
static double timeOfOneKernel(const AttentionShape &attention, bool usesTensorCores) {
  Work work(attention);
  double chunks = work.keys / kAttentionKeys * work.elements / 128;
  auto padded = [&](int64_t rows) {
    return static_cast<int64_t>(llvm::alignTo(attention.rowsOfBlock(), rows));
  };
  if (usesTensorCores)
    return 8 + std::max({4.8 * chunks, work.memory, work.compute(padded(MmaShape::kM), 40, 0.2)});
  return 3 + std::max({18 * chunks, work.memory, work.compute(padded(FmaShape(attention).rows()), 60, 1.7)});
}

static double timeOfSplit(const AttentionShape &attention, bool usesTensorCores) {
  Work work(attention);
  double compute = usesTensorCores ? work.compute(attention.rowsOfBlock(), 90, 0.4)
                                   : work.compute(attention.rowsOfBlock(), 150, 2.2);
  return 12 + work.memory + compute;
}

// The loops are at least four launches, and read and write scores and weights.
bool device::isSplitFaster(const AttentionShape &attention, bool mayUseTensorCores) {
  FmaShape fma(attention);
  bool isCovered = attention.hasChunksUpTo(kAttentionKeys) ||
                   (!mayUseTensorCores && attention.tileCount(fma.rows()) >= kDefaultSMCount &&
                    attention.rowsOfBlock() >= fma.rows());
  bool usesTensorCores = mayUseTensorCores && MmaShape::find(attention).has_value();
  return !isCovered || timeOfSplit(attention, usesTensorCores) < timeOfOneKernel(attention, usesTensorCores);
}
