// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations that create tensors.

#include "Interpreter.h"
#include "Movement.h"
#include "Scalars/Arithmetic.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

static int32_t runConstant(ConstantOp op, Frame &frame) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense)
    return frame.refuse(
        op, "holds its value in a form that the reference interpreter does not read, expected dense<…>");
  return frame.set(op.getResult(), Tensor::constant(*elementTypeOf(dense.getElementType()), dense));
}

static int32_t runFull(FullOp op, Frame &frame) {
  Shape shape;
  if (int32_t status =
          frame.shape(op, cast<RankedTensorType>(op.getResult().getType()), op.getSizes(), shape))
    return status;
  return frame.set(op.getResult(), filled(frame[op.getValue()], shape));
}

static int32_t runIota(IotaOp op, Frame &frame) {
  Shape shape;
  auto type = cast<RankedTensorType>(op.getResult().getType());
  if (int32_t status = frame.shape(op, type, op.getSizes(), shape))
    return status;
  int64_t axis = op.getAxis();
  Tensor indices(ElementType::I64, {shape[axis]});
  for (int64_t i = 0; i < shape[axis]; ++i)
    indices.data<int64_t>()[i] = i;
  Shape strides(shape.size(), 0);
  strides[axis] = 1;
  return frame.set(op.getResult(), gather(convert(indices, *elementTypeOf(type)), shape, 0, strides));
}

void mlir::ad::reference::registerCreation(Semantics &semantics) {
  semantics.add(runConstant);
  semantics.add(runFull);
  semantics.add(runIota);
}
