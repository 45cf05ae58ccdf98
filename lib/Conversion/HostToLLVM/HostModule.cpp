// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Strings, sites, constant data and declarations of a lowered host program.

#include "HostEmitter.h"
#include "adjoint/Support/LocationText.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::ad;

LLVM::LLVMFuncOp HostModule::runtimeFunction(StringRef name, Type result, ArrayRef<Type> arguments) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder builder(module.getBodyRegion());
  return LLVM::LLVMFuncOp::create(builder, module.getLoc(), name,
                                  LLVM::LLVMFunctionType::get(result, arguments));
}

Value HostModule::addressOf(OpBuilder &builder, Location loc, LLVM::GlobalOp global) {
  return LLVM::AddressOfOp::create(builder, loc, global);
}

Value HostModule::string(OpBuilder &builder, Location loc, StringRef text) {
  LLVM::GlobalOp &global = strings[text];
  if (!global) {
    OpBuilder at(module.getBodyRegion());
    std::string bytes = (text + StringRef("\0", 1)).str();
    auto type = LLVM::LLVMArrayType::get(at.getI8Type(), bytes.size());
    global =
        LLVM::GlobalOp::create(at, module.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal,
                               "ad_string_" + std::to_string(strings.size() - 1), at.getStringAttr(bytes));
  }
  return addressOf(builder, loc, global);
}

Value HostModule::site(OpBuilder &builder, Location loc, StringRef operation) {
  std::string place = locationText(loc);
  LLVM::GlobalOp &global = sites[place + "|" + operation.str()];
  if (!global) {
    OpBuilder at(module.getBodyRegion());
    Type pointer = LLVM::LLVMPointerType::get(at.getContext());
    auto type = LLVM::LLVMStructType::getLiteral(at.getContext(), {pointer, pointer});
    global = LLVM::GlobalOp::create(at, module.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                    "ad_site_" + std::to_string(sites.size() - 1), Attribute());
    at.createBlock(&global.getInitializerRegion());
    Value value = LLVM::UndefOp::create(at, loc, type);
    value = LLVM::InsertValueOp::create(at, loc, value, string(at, loc, place), ArrayRef<int64_t>{0});
    value = LLVM::InsertValueOp::create(at, loc, value, string(at, loc, operation), ArrayRef<int64_t>{1});
    LLVM::ReturnOp::create(at, loc, value);
  }
  return addressOf(builder, loc, global);
}

// Elements as they lie in memory: booleans as bytes, 16- and 8-bit floats as their bits.
static ElementsAttr inMemory(ElementsAttr value) {
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense)
    return value;
  if (element.isInteger(1))
    return dense.mapValues(IntegerType::get(type.getContext(), 8),
                           [](const APInt &bit) { return bit.zext(8); });
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    return dense.mapValues(IntegerType::get(type.getContext(), element.getIntOrFloatBitWidth()),
                           [](const APFloat &number) { return number.bitcastToAPInt(); });
  return value;
}

Value HostModule::data(OpBuilder &builder, Location loc, ElementsAttr value) {
  LLVM::GlobalOp &global = constants[value];
  if (!global) {
    OpBuilder at(module.getBodyRegion());
    ElementsAttr stored = inMemory(value);
    auto type = cast<RankedTensorType>(stored.getType());
    int64_t count = std::max<int64_t>(type.getNumElements(), 1);
    auto array = LLVM::LLVMArrayType::get(type.getElementType(), count);
    // One dimension is all that LLVM needs to see; an empty tensor still has an address.
    Attribute initial;
    if (auto dense = dyn_cast<DenseElementsAttr>(stored); dense && type.getNumElements() > 0)
      initial = dense.reshape(RankedTensorType::get({count}, type.getElementType()));
    else if (type.getNumElements() > 0)
      initial = stored;
    else
      initial = DenseElementsAttr::get(RankedTensorType::get({count}, type.getElementType()),
                                       Builder(at).getZeroAttr(type.getElementType()));
    global =
        LLVM::GlobalOp::create(at, module.getLoc(), array, /*isConstant=*/true, LLVM::Linkage::Internal,
                               "ad_data_" + std::to_string(constants.size() - 1), initial, /*alignment=*/64);
  }
  return addressOf(builder, loc, global);
}

int64_t HostModule::kernelNumber(StringRef kernel) {
  auto it = llvm::find(kernels, kernel);
  if (it != kernels.end())
    return it - kernels.begin();
  kernels.push_back(kernel.str());
  return kernels.size() - 1;
}
