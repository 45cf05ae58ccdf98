// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Strings, sites, constant data and declarations of a lowered host program.

#include "HostModule.h"
#include "Launches/KernelClosures.h"
#include "adjoint/Support/LocationText.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::host;

// A call of a kernel with more operations costs little compared with its code.
static constexpr int64_t kMaxInlinedOps = 400;

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
  std::string position = locationText(loc);
  LLVM::GlobalOp &global = sites[position + "|" + operation.str()];
  if (!global) {
    OpBuilder at(module.getBodyRegion());
    Type pointer = LLVM::LLVMPointerType::get(at.getContext());
    auto type = LLVM::LLVMStructType::getLiteral(at.getContext(), {pointer, pointer});
    global = LLVM::GlobalOp::create(at, module.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                    "ad_site_" + std::to_string(sites.size() - 1), Attribute());
    at.createBlock(&global.getInitializerRegion());
    Value value = LLVM::UndefOp::create(at, loc, type);
    value = LLVM::InsertValueOp::create(at, loc, value, string(at, loc, position), ArrayRef<int64_t>{0});
    value = LLVM::InsertValueOp::create(at, loc, value, string(at, loc, operation), ArrayRef<int64_t>{1});
    LLVM::ReturnOp::create(at, loc, value);
  }
  return addressOf(builder, loc, global);
}

// Elements in their memory layout: booleans as bytes, 16- and 8-bit floats as their bits.
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

func::FuncOp HostModule::rangeFunction(func::FuncOp kernel, Type closureType) {
  func::FuncOp &known = ranges[kernel.getSymName()];
  if (known)
    return known;
  OpBuilder builder(kernel);
  Location loc = kernel.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext()), wide = builder.getI64Type();
  known = func::FuncOp::create(builder, loc, (kernel.getSymName() + "$range").str(),
                               builder.getFunctionType({pointer, wide, wide}, {}));
  known.setPrivate();
  Block *body = known.addEntryBlock();
  builder.setInsertionPointToStart(body);
  SmallVector<Value> operands;
  ArrayRef<Type> types = kernel.getArgumentTypes();
  for (auto [i, type] : llvm::enumerate(types.drop_back(2))) {
    Value address = LLVM::GEPOp::create(builder, loc, pointer, closureType, body->getArgument(0),
                                        ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
    Value value = LLVM::LoadOp::create(builder, loc, typeInClosure(type), address);
    operands.push_back(convertForClosure(builder, loc, value, type));
  }
  for (Value bound : body->getArguments().drop_front())
    operands.push_back(convertForClosure(builder, loc, bound, builder.getIndexType()));
  func::CallOp::create(builder, loc, kernel, operands);
  func::ReturnOp::create(builder, loc);
  return known;
}

static bool isShortStraightCode(func::FuncOp kernel) {
  if (kernel.isExternal() || !kernel.getBody().hasOneBlock())
    return false;
  Block &body = kernel.getBody().front();
  // An alloca in a loop would take more of the stack in each iteration.
  return static_cast<int64_t>(body.getOperations().size()) <= kMaxInlinedOps &&
         llvm::none_of(body, [](Operation &op) { return op.getNumRegions() > 0 || isa<LLVM::AllocaOp>(op); });
}

bool HostModule::isInlinable(func::FuncOp kernel) {
  auto [known, isNew] = inlinable.try_emplace(kernel.getSymName(), false);
  if (isNew)
    known->second = isShortStraightCode(kernel);
  return known->second;
}

void HostModule::eraseInlined() {
  for (const auto &[name, isInlined] : inlinable)
    if (auto kernel = module.lookupSymbol<func::FuncOp>(name); isInlined && kernel && !called.contains(name))
      kernel.erase();
}
