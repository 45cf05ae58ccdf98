// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "CPUValues.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// A row's value that an earlier loop has stored is loaded.
FailureOr<Value> CPUValues::compute(Value tensor, const Position &position) {
  if (auto argument = buffers.find(tensor); argument != buffers.end())
    if (Value column = interleavedStores.loadColumn(argument->second, position))
      return column;
  FailureOr<Value> value = rowCache.loadSaved(tensor, position);
  if (!*value) {
    tensor::InsertSliceOp padding = paddingOf(tensor);
    value = padding ? computePadded(padding, position) : ValueEvaluator::compute(tensor, position);
  }
  if (succeeded(value))
    rowCache.storeSaved(tensor, position, *value);
  return value;
}

FailureOr<Value> CPUValues::computePadded(tensor::InsertSliceOp padding, const Position &position) {
  auto [inside, isInside] = paddedInputs.positionInside(padding, position);
  FailureOr<Value> element = evaluateOne(padding.getSource(), inside);
  FailureOr<Value> number = evaluateOne(padding.getDest(), position);
  if (failed(element) || failed(number) || !isInside)
    return element;
  return paddedInputs.choose(isInside, *element, *number);
}

FailureOr<Value> CPUValues::operandValue(OpOperand *input, ArrayRef<Index> loops) {
  auto packed = panels.operands.find(input);
  bool isPacked = packed != panels.operands.end();
  if (isPacked && !packed->second.filling)
    return panels.loadPacked(packed->second, loops);
  if (Value value = transposedOperands.transposedValue(input, loops))
    return value;
  if (Value value = windowLoads.load(input, loops))
    return value;
  if (Value value = rowPanels.load(input, loops))
    return value;
  FailureOr<Value> value = ValueEvaluator::operandValue(input, loops);
  if (isPacked && succeeded(value))
    panels.fillPacked(packed->second, loops, *value);
  return value;
}
