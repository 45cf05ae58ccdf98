// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Finds the operations that make NaNs and infinities. An execution of an operation is an origin if its result
// has a NaN although no operand has one, or an infinity although all operands are finite; of an elementwise
// operation, the elements of the operands that an element was computed from count. A NaN of an infinity that
// an earlier origin made is a consequence of that origin.
#ifndef ADJOINT_RUNNER_TRACE_NONFINITEFINDER_H
#define ADJOINT_RUNNER_TRACE_NONFINITEFINDER_H

#include "adjoint/Reference/Observer.h"
#include "adjoint/Runner/Trace/FoldedOperations.h"
#include "adjoint/Runner/Trace/LoopPosition.h"
#include "llvm/ADT/DenseMap.h"

#include <deque>
#include <optional>

namespace mlir::ad::runner {

/// What the elements of a float tensor are.
struct ElementRange {
  int64_t count = 0, nans = 0, infinities = 0;
  double min = 0, max = 0; ///< of those that are not NaN
  int64_t firstNaN = -1, firstInfinity = -1;

  bool isFinite() const { return nans == 0 && infinities == 0; }
  /// `[-1.0, 3.5]`, with the numbers of NaNs and infinities, or the value of the only element.
  std::string toText() const;
};

ElementRange rangeOf(const reference::Tensor &tensor);

/// An operand of an origin: where it came from, and what it was.
struct OperandNote {
  std::string name; ///< as the operation wrote it: `operand 1`
  ElementRange range;
  std::optional<double> value; ///< the element that the first bad element was computed from, if it is one
  bool isSuspect = false;      ///< the operand that the chain follows
};

/// A step of the chain: an operation that computed an operand of the step before.
struct ChainStep {
  std::string text; ///< the operation, where and when it ran, or what gave the value to the program
  ElementRange range;
};

enum class NonFinite { NaN, Infinity };

/// An operation that made a NaN or an infinity, when it did so first.
struct NonFiniteOrigin {
  NonFinite kind = NonFinite::NaN;
  Operation *op = nullptr;
  Iterations iterations;
  std::string element; ///< index of the first such element
  double value = 0;
  ElementRange result;
  std::vector<OperandNote> operands;
  std::vector<ChainStep> chain;
  int64_t executions = 1; ///< of this operation that are origins
  /// An infinity of this origin that became a NaN: the first operation that did so.
  std::string consequence;
};

class NonFiniteFinder : public reference::Observer {
public:
  ~NonFiniteFinder() override;
  int32_t ran(Operation *op, ArrayRef<reference::Tensor> operands,
              ArrayRef<reference::Tensor> results) override;
  void iterationStarts(Operation *loop, int64_t iteration) override { position.start(iteration); }
  void loopEnded(Operation *loop) override { position.end(); }

  /// For the run of the program before its simplification: a finder that sees that run, or null if nothing
  /// was folded.
  NonFiniteFinder *watchWritten(ModuleOp written, ModuleOp compiled);
  /// Takes from that run the origins that were folded.
  void adoptFolded();

  /// In the order in which they were made, folded ones first.
  const std::vector<NonFiniteOrigin> &getOrigins() const { return origins; }
  /// Constants, feeds and arguments that have NaNs or infinities already.
  const std::vector<std::string> &getGiven() const { return given; }
  int64_t getExecutions() const { return executions; }

private:
  /// The execution that computed a tensor.
  struct Producer {
    Operation *op = nullptr;
    Iterations iterations;
    ElementRange range;
    int origin = -1;                  ///< the origin that its NaNs and infinities come from
    std::shared_ptr<Producer> source; ///< of its suspect operand
    Value sourceValue;                ///< that operand
    ElementRange sourceRange;
  };
  /// An operation that has just run.
  struct Execution {
    Operation *op;
    ArrayRef<reference::Tensor> operands;
    ArrayRef<ElementRange> ranges; ///< of the operands
    std::optional<size_t> suspect; ///< the operand that explains a bad result best
  };
  /// A result that a fusion yields: the kernel may have written another tensor than the interpreter.
  struct Yielded {
    Operation *op;
    SmallVector<reference::Tensor, 2> operands;
    SmallVector<ElementRange, 2> ranges;
    std::optional<size_t> suspect;
    reference::Tensor result;
  };
  struct Entry {
    std::weak_ptr<const void> storage;
    std::shared_ptr<Producer> producer;
  };

  std::shared_ptr<Producer> producerOf(const reference::Tensor &tensor) const;
  void remember(const reference::Tensor &tensor, std::shared_ptr<Producer> producer);
  void dropDead();
  void noteGiven(Operation *op, const ElementRange &range);
  /// The index in `origins` for a non-finite constant that folding or a rewrite made. -1 if the constant
  /// stands in the program text.
  int findFoldedOrigin(const Execution &execution, const reference::Tensor &result,
                       const ElementRange &range);
  void noteGivenOperands(Operation *op, ArrayRef<reference::Tensor> operands, ArrayRef<ElementRange> ranges);
  int findOrigin(ArrayRef<reference::Tensor> operands) const;
  void observeResult(const Execution &execution, Value value, const reference::Tensor &result);
  void observeFusion(Operation *fusion, ArrayRef<reference::Tensor> operands,
                     ArrayRef<reference::Tensor> results);
  void observeYielded(Value value);
  std::shared_ptr<Producer> makeYielded(Operation *fusion, Value yielded, const reference::Tensor &result,
                                        ArrayRef<reference::Tensor> operands);
  int originOf(const Execution &execution, const reference::Tensor &result, const ElementRange &range);
  int addOrigin(const Execution &execution, NonFinite kind, int64_t element, const reference::Tensor &result,
                const ElementRange &range);
  std::vector<ChainStep> chainOf(const std::shared_ptr<Producer> &producer, Value value,
                                 const ElementRange &range) const;

  LoopPosition position;
  llvm::DenseMap<const void *, Entry> producers;
  // Of the fusion that runs.
  llvm::DenseMap<Value, std::shared_ptr<Producer>> inFusion;
  llvm::DenseMap<Value, Yielded> yields;        ///< those that have not been observed
  std::deque<std::shared_ptr<Producer>> recent; ///< those that keep their sources
  size_t nextSweep = 1024;
  llvm::DenseMap<std::pair<Operation *, int>, int> originOfOperation;
  llvm::DenseMap<Operation *, bool> givenSeen;
  std::unique_ptr<FoldedOperations> folded;
  std::unique_ptr<NonFiniteFinder> written; ///< of the program before its simplification
  llvm::StringMap<int> foldedOrigins;       ///< of constants, by their locations
  llvm::DenseMap<Operation *, int> originOfResults;
  std::vector<NonFiniteOrigin> origins;
  std::vector<std::string> given;
  int64_t executions = 0;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_TRACE_NONFINITEFINDER_H
