// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What decompositions of convolutions share.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DECOMPOSE_DECOMPOSECONV_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DECOMPOSE_DECOMPOSECONV_H

#include "adjoint/Dialect/AD/IR/ADWindowOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::ad {
/// A tensor with a letter for each axis.
struct LetteredTensor {
  Value tensor;
  std::string letters;
};

/// The letter of the elements of the window along a spatial axis; the digit is that of its places.
inline char stepLetter(char digit) { return static_cast<char>('A' + (digit - '0')); }
inline char digitOf(char stepLetter) { return static_cast<char>('0' + (stepLetter - 'A')); }
std::string withStepLetters(StringRef letters);

/// The result of a convolution as ad.dot, in its order: the sum over the letters that its result does not
/// have. Axes of the result whose letters no operand has have one element.
Value productOf(OpBuilder &builder, ConvOp op, Location loc, const LetteredTensor &input,
                const LetteredTensor &filter);

/// The number 0 of a type, of rank 0.
Value zeroOf(OpBuilder &builder, Location loc, Type element);

/// The input of a convolution with zeros around its elements and between them, or without some at its ends.
Value padInput(OpBuilder &builder, Location loc, const ConvAxes &axes, ArrayRef<WindowAxis> windows,
               Value input);

void populatePhasesOfConvPatterns(RewritePatternSet &patterns);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DECOMPOSE_DECOMPOSECONV_H
