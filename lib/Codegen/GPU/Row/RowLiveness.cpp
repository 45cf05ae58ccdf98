// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "RowLiveness.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

namespace {
/// Visits the passes in the order in which they are emitted. All later passes can use a value that a pass has
/// computed.
class Passes {
public:
  explicit Passes(int64_t length) : length(length) {}

  void addPass(ValueRange starts) {
    for (Value start : starts)
      sumBefore(start);
    llvm::SmallDenseSet<Value> seen;
    for (Value start : starts) {
      visit(start);
      countReads(start, seen);
    }
    ++count;
  }
  int64_t maxLiveWords() const;
  SmallVector<Value> argumentsReadAgain() const;

private:
  struct Life {
    int64_t from, to; // passes
  };
  static SmallVector<Value> inputsOf(Value value);
  void sumBefore(Value value);
  void visit(Value value);
  void countReads(Value value, llvm::SmallDenseSet<Value> &seen);
  bool isLong(Value value) const;

  int64_t length, count = 0;
  llvm::MapVector<Value, Life> lives;
  llvm::MapVector<Value, int64_t> reads; // passes that read an argument
  llvm::SmallDenseSet<Value> searched;
};
} // namespace

SmallVector<Value> Passes::inputsOf(Value value) {
  Operation *op = value.getDefiningOp();
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  ValueRange operands = generic ? ValueRange(generic.getInputs())
                        : op    ? ValueRange(op->getOperands())
                                : ValueRange();
  return llvm::filter_to_vector(operands, [](Value input) { return isa<RankedTensorType>(input.getType()); });
}

bool Passes::isLong(Value value) const {
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  return !shape.empty() && shape.back() == length;
}

void Passes::sumBefore(Value value) {
  if (!searched.insert(value).second)
    return;
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (generic && generic.getNumReductionLoops() > 0)
    return addPass(inputsOf(value));
  for (Value input : inputsOf(value))
    sumBefore(input);
}

// A value with one element per row, and its broadcast, is one register.
void Passes::visit(Value value) {
  if (auto known = lives.find(value); known != lives.end()) {
    known->second.to = count;
    return;
  }
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (generic && generic.getNumReductionLoops() > 0)
    return;
  SmallVector<Value> inputs = inputsOf(value);
  for (Value input : inputs)
    visit(input);
  bool isArgument = isa<BlockArgument>(value);
  if (isLong(value) && (isArgument || llvm::any_of(inputs, [&](Value input) { return isLong(input); })))
    lives[value] = {count, count};
}

// Without values in registers, each pass reads the arguments again.
void Passes::countReads(Value value, llvm::SmallDenseSet<Value> &seen) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!seen.insert(value).second || (generic && generic.getNumReductionLoops() > 0))
    return;
  if (isa<BlockArgument>(value) && isLong(value))
    ++reads[value];
  for (Value input : inputsOf(value))
    countReads(input, seen);
}

SmallVector<Value> Passes::argumentsReadAgain() const {
  SmallVector<Value> again;
  for (auto [argument, passes] : reads)
    if (passes > 1)
      again.push_back(argument);
  return again;
}

int64_t Passes::maxLiveWords() const {
  int64_t maxWords = 0;
  for (int64_t pass = 0; pass < count; ++pass) {
    int64_t words = 0;
    for (auto &[value, life] : lives)
      if (life.from <= pass && pass < life.to)
        words += std::max<int64_t>(1, getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() / 32);
    maxWords = std::max(maxWords, words);
  }
  return maxWords;
}

static Passes passesOf(KernelOp kernel, int64_t length) {
  Passes passes(length);
  passes.addPass(kernel.getBody().front().getTerminator()->getOperands());
  return passes;
}

int64_t device::liveWordsPerElement(KernelOp kernel, int64_t length) {
  return passesOf(kernel, length).maxLiveWords();
}

SmallVector<Value> device::argumentsReadAgain(KernelOp kernel, int64_t length) {
  return passesOf(kernel, length).argumentsReadAgain();
}
