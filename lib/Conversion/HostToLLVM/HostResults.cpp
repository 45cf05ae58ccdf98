// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Results. Those that have a place in the plan are written there, in the memory that the host gets; one that
// lies in the memory of the argument donated to it is that argument. Everything else is copied at the end.

#include "HostEmitter.h"

using namespace mlir;
using namespace mlir::ad;

Value HostEmitter::resultSlot(unsigned number) {
  return LLVM::GEPOp::create(builder, loc, pointerType, tensorType, entry.getArgument(2),
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
}

Value HostEmitter::allocateResult(unsigned number, const HostTensor &like) {
  Value data = call("adrt_result", pointerType,
                    {context, resultSlot(number), i32(number), i32(elementNumber(like.type.getElementType())),
                     i32(like.type.getRank()), shapeArray(like)});
  guardMemory(data, userOf([&](const PlannedPlace &place) {
                return place.home == Home::result && place.number == number;
              }));
  return data;
}

void HostEmitter::bindResults() {
  resultData.resize(source.getNumResults());
  for (const PlannedPlace &place : plan.places) {
    if (place.home != Home::result)
      continue;
    auto type = cast<RankedTensorType>(source.getResultTypes()[place.number]);
    resultData[place.number] = allocateResult(place.number, {nullptr, sizesOf(type, {}), type, -1});
  }
}

void HostEmitter::emitReturn(func::ReturnOp op) {
  returnSlots();
  for (auto [number, operand] : llvm::enumerate(op.getOperands())) {
    if (resultData[number])
      continue;
    const HostTensor tensor = tensors.lookup(operand);
    const PlannedPlace *place = tensor.buffer >= 0 ? &plan.places[tensor.buffer] : nullptr;
    if (place && place->home == Home::argument && isDonated(place->number, number)) {
      Value argument = LLVM::GEPOp::create(builder, loc, pointerType, tensorType, entry.getArgument(1),
                                           ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(place->number)});
      if (options.device)
        returnDonated(argument, tensor);
      Value described = LLVM::LoadOp::create(builder, loc, tensorType, argument);
      LLVM::StoreOp::create(builder, loc, described, resultSlot(number));
      continue;
    }
    Value data = allocateResult(number, tensor);
    copyBytes(data, tensor.pointer, byteCount(tensor));
  }
}

bool HostEmitter::isDonated(int64_t argument, int64_t result) {
  auto donated = source.getArgAttrOfType<IntegerAttr>(argument, ADDialect::kDonatedAttr);
  return donated && donated.getInt() == result;
}
