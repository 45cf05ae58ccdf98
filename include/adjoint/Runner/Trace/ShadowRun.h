// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rounding errors of a run, operation by operation. Each tensor has shadows in f64, which go along with the
// run in lockstep: control flow and sizes are those of the actual run.
//
// Without samples there is one shadow, the run in f64. With v the actual result of an operation, w its result
// in f64 for the actual operands, and s for their shadows: v - w is its local error, w - s the error that its
// operands propagate, and v - s the total error.
//
// With samples, each shadow is a run in which the result of every operation is computed in f64 and rounded
// to its type at random, up with the probability that makes the mean exact (stochastic rounding). Results
// that agree in the samples do not depend on rounding (J. Vignes, A stochastic arithmetic for reliable
// scientific computation, 1993; D. S. Parker, Monte Carlo arithmetic, 1997).
#ifndef ADJOINT_RUNNER_TRACE_SHADOWRUN_H
#define ADJOINT_RUNNER_TRACE_SHADOWRUN_H

#include "adjoint/Reference/Observer.h"
#include "adjoint/Runner/Trace/LoopPosition.h"
#include "adjoint/Runner/Trace/ShadowValues.h"
#include "adjoint/Runner/Trace/WideEvaluator.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::ad::runner {

struct ShadowOptions {
  unsigned samples = 0; ///< 0: one run in f64, without rounding
  uint64_t seed = 0;
};

/// The largest errors of elements and tensors.
struct ErrorSize {
  double abs = 0, rel = 0; ///< rel: to the exact element, infinite if that is 0
  double ulp = 0;          ///< in units of the last place of the exact element
  double l2 = 0, max = 0;  ///< norm-wise, of the worst tensor (NormDifference.h)

  void add(const ErrorSize &other);
};

/// What is known about an operation, over all of its executions.
struct OperationErrors {
  Operation *op = nullptr;
  int64_t executions = 0;
  ErrorSize local, propagated, total;
  Iterations worst;         ///< the iteration with the largest local error, of samples the fewest digits
  double amplification = 0; ///< the largest: propagated relative error to that of the operands
  double digits = 0;        ///< the fewest significant decimal digits of an element
};

/// An operation whose integers, booleans or indices are others in a shadow.
struct Decision {
  std::string text; ///< the operation, where and when first
  int64_t executions = 1;
  bool isControl = false; ///< a scalar: branches, loops and sizes follow the actual value
};

/// A result of the program.
struct ResultErrors {
  std::string name; ///< empty for results of the entry
  ErrorSize total;
  double digits = 0;
};

class ShadowRun : public reference::Observer {
public:
  ShadowRun(ModuleOp module, const ShadowOptions &options)
      : options(options), evaluator(module), shadows(options.samples == 0 ? 1 : options.samples) {}

  int32_t ran(Operation *op, ArrayRef<reference::Tensor> operands,
              ArrayRef<reference::Tensor> results) override;
  void iterationStarts(Operation *loop, int64_t iteration) override { position.start(iteration); }
  void loopEnded(Operation *loop) override { position.end(); }
  void returned(ArrayRef<reference::Tensor> results) override;

  std::vector<OperationErrors> getOperations() const;
  /// In the order of the entry.
  const std::vector<ResultErrors> &getResults() const { return results; }
  /// Of ad.receive, in the order of their executions.
  const std::vector<ResultErrors> &getReceived() const { return received; }
  /// The same results and received values in f64. Empty with samples.
  ArrayRef<reference::Tensor> getExactResults() const { return exactResults; }
  ArrayRef<reference::Tensor> getExactReceived() const { return exactReceived; }
  std::vector<Decision> getDecisions() const;
  ArrayRef<std::string> getFailures() const { return evaluator.getFailures(); }

private:
  struct Execution {
    Operation *op;
    ArrayRef<reference::Tensor> operands, results;
    std::vector<Tensors> operandShadows; ///< of each operand
  };

  SmallVector<reference::Tensor> evaluate(const Execution &execution, ArrayRef<reference::Tensor> operands);
  SmallVector<reference::Tensor> operandsOf(const Execution &execution, size_t sample) const;
  void runExact(const Execution &execution);
  void runSamples(const Execution &execution);
  void noteErrors(const Execution &execution, size_t result, const reference::Tensor &local,
                  const reference::Tensor &shadow);
  void noteDigits(const Execution &execution, size_t result, ArrayRef<reference::Tensor> samples);
  /// Keeps the shadows of a result, unless the run must follow the actual value.
  void keep(const Execution &execution, size_t result, Tensors values);
  ResultErrors summarize(std::string name, const reference::Tensor &actual) const;
  OperationErrors &errorsOf(Operation *op, reference::ElementType type);

  ShadowOptions options;
  WideEvaluator evaluator;
  ShadowValues shadows;
  LoopPosition position;
  uint64_t roundings = 0;
  llvm::MapVector<Operation *, OperationErrors> operations;
  llvm::MapVector<Operation *, Decision> decisions;
  std::vector<ResultErrors> results, received;
  SmallVector<reference::Tensor> exactResults, exactReceived;
};

/// The decimal digits of the significand of a type: 7.2 of f32.
double digitsOfType(reference::ElementType type);
/// A neighbour of x in `type`: the upper one if `uniform`, in [0, 1), is less than the distance of x from the
/// lower one, in units of the distance of both. x itself if it has the type, or is not finite.
double roundStochastically(reference::ElementType type, double x, double uniform);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_TRACE_SHADOWRUN_H
