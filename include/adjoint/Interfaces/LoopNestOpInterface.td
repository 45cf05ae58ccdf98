// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations that are one nest of loops: which element of each operand an iteration reads, what it computes from
// them, and how the values of iterations are combined.

#ifndef ADJOINT_INTERFACES_LOOPNESTOPINTERFACE
#define ADJOINT_INTERFACES_LOOPNESTOPINTERFACE

include "mlir/IR/OpBase.td"

def LoopNestOpInterface : OpInterface<"LoopNestOpInterface"> {
  let cppNamespace = "::mlir::ad";
  let description = [{
    An operation without side effects that computes its results, ranked tensors, in one nest of loops. Each iteration
    reads one element of each operand: at sums and multiples of the loops, at indices that other operands hold, or at
    indices outside of the tensor, which mean an error, the nearest element or a value. Without reduction loops each
    iteration writes one element of each result. With them, the values of the iterations are combined, by scalar code
    over several accumulators and over any number of loops.

    The values are combined in one ascending chain over the reduction loops, the last one fastest, which starts from
    the neutral values. An operation whose combiner is one addition, multiplication, maximum or minimum may have another
    order (NumericsOpInterface).

    The operation implements FusableOpInterface, too, whose defaults follow from this interface. docs/loop-nests.md has
    an example.
  }];
  let methods = [
    InterfaceMethod<"The loops, from the outermost to the innermost.",
      "::llvm::SmallVector<::mlir::utils::IteratorType>", "getLoops", (ins)>,
    InterfaceMethod<"Which element an iteration reads, for each operand that is a ranked tensor.",
      "::llvm::SmallVector<::mlir::ad::ElementAccess>", "getAccesses", (ins)>,
    InterfaceMethod<[{
        Which element an iteration writes, for each result: each index is another parallel loop, and all parallel loops
        occur.
      }],
      "::llvm::SmallVector<::mlir::AffineMap>", "getResultMaps", (ins)>,
    InterfaceMethod<[{
        The number of iterations of each loop, before the operation. By default the static size of a result, or that of
        an operand along an axis whose index is the loop alone; an operation with other loops says their sizes.
      }],
      "::llvm::SmallVector<::mlir::OpFoldResult>", "getLoopSizes", (ins "::mlir::OpBuilder &":$builder), [{}], [{
        return ::mlir::ad::defaultLoopSizes($_op, builder);
      }]>,
    InterfaceMethod<[{
        Builds the values of one iteration, one for each accumulator, or for each result if there is no reduction loop.
        `scalars` has the element of each operand, or the operand itself if it is a scalar; `indices` has the number of
        the iteration along each loop, of type index. The code consists of the operations that
        `ElementwiseOpInterface::emitScalar` may use.
      }],
      "::llvm::SmallVector<::mlir::Value>", "emitElement",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$scalars,
           "::mlir::ValueRange":$indices)>,
    InterfaceMethod<[{
        The constants that the accumulators start from. Combined with other values they change nothing.
      }],
      "::llvm::SmallVector<::mlir::Value>", "emitNeutral",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc), [{}], [{ return {}; }]>,
    InterfaceMethod<"Combines two tuples of accumulators; the iterations of `left` come before those of `right`.",
      "::llvm::SmallVector<::mlir::Value>", "emitCombine",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$left,
           "::mlir::ValueRange":$right), [{}], [{ return {}; }]>,
    InterfaceMethod<"Builds one element of each result from the last accumulators, which are the results by default.",
      "::llvm::SmallVector<::mlir::Value>", "emitResults",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$accumulators), [{}], [{
        return ::llvm::to_vector(accumulators);
      }]>,
    InterfaceMethod<"Roughly the instructions of one iteration, in tens. Fusion bounds the sum over a kernel.",
      "int64_t", "getIterationCost", (ins), [{}], [{ return 1; }]>
  ];
  let verify = [{ return ::mlir::ad::verifyLoopNest($_op); }];
}

#endif // ADJOINT_INTERFACES_LOOPNESTOPINTERFACE
