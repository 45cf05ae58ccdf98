// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Entries of the C ABI: arguments, launches, results, and operations that name or move tensors.

#include "HostEmitter.h"
#include "adjoint/Runtime/adrt.h"
#include "adjoint/Support/SymbolName.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ad;

FunctionType ad::entryType(MLIRContext *context) {
  Type pointer = LLVM::LLVMPointerType::get(context);
  return FunctionType::get(context, {pointer, pointer, pointer}, IntegerType::get(context, 32));
}

HostEmitter::HostEmitter(func::FuncOp source, HostModule &shared, const HostOptions &options)
    : source(source), shared(shared), options(options), builder(source), loc(source.getLoc()) {
  pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  Type i32 = builder.getI32Type();
  tensorType = LLVM::LLVMStructType::getLiteral(builder.getContext(), {pointerType, pointerType, i32, i32});
}

LogicalResult HostEmitter::emit() {
  plan = *MemoryPlan::read(source);
  declareEntry();
  arena = call("adrt_arena", pointerType, {context, i64(plan.pools.front())});
  guardMemory(
      arena, userOf([](const PlannedPlace &place) { return place.home == Home::pool && place.number == 0; }));
  bindDevice();
  bindArguments();
  bindResults();
  if (failed(emitBlock(source.getBody().front())))
    return failure();
  func::ReturnOp::create(builder, loc, i32(ADRT_OK));
  return success();
}

void HostEmitter::declareEntry() {
  entry = func::FuncOp::create(builder, loc, adrt::entrySymbol(source.getSymName()),
                               entryType(builder.getContext()));
  builder.setInsertionPointToStart(entry.addEntryBlock());
  context = entry.getArgument(0);
}

Value HostEmitter::i32(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), value);
}
Value HostEmitter::i64(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), value);
}
Value HostEmitter::indexConstant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}
Value HostEmitter::toI64(Value index) {
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getI64Type(), index);
}

Value HostEmitter::call(StringRef name, Type result, ValueRange operands) {
  SmallVector<Type> types(operands.getTypes());
  Type declared = result ? result : LLVM::LLVMVoidType::get(builder.getContext());
  auto callee = shared.runtimeFunction(name, declared, types);
  auto op = LLVM::CallOp::create(builder, loc, callee, operands);
  return result ? op.getResult() : Value();
}

void HostEmitter::guard(Value status) { GuardOp::create(builder, loc, status); }

// A service that returns no memory has recorded why: mostly, that there is too little.
void HostEmitter::guardMemory(Value pointer, Location user) {
  guard(call("adrt_require_allocated", builder.getI32Type(),
             {context, pointer, shared.site(builder, user, "")}));
}

// Where the largest of the buffers that are wanted is filled; without one, where code is being emitted.
Location HostEmitter::userOf(function_ref<bool(const PlannedPlace &)> wanted) {
  Location found = loc;
  int64_t most = -1;
  source.walk([&](Operation *op) {
    auto buffers = op->getAttrOfType<DenseI64ArrayAttr>("ad.buffer");
    for (int64_t buffer : buffers ? buffers.asArrayRef() : ArrayRef<int64_t>())
      if (buffer >= 0 && wanted(plan.places[buffer]) && plan.places[buffer].bytes > most) {
        most = plan.places[buffer].bytes;
        found = op->getLoc();
      }
  });
  return found;
}

// Memory of one call frame. In the entry block, so that loops do not grow the stack.
Value HostEmitter::stackSlot(Type type, int64_t count, unsigned alignment) {
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(&entry.getBody().front());
  Value size = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), std::max<int64_t>(count, 1));
  return LLVM::AllocaOp::create(builder, loc, pointerType, type, size, alignment);
}

int64_t HostEmitter::bufferNumber(Operation *op, unsigned result) const {
  return op->getAttrOfType<DenseI64ArrayAttr>("ad.buffer")[result];
}

SmallVector<Value> HostEmitter::sizesOf(RankedTensorType type, ValueRange dynamic) {
  SmallVector<Value> sizes;
  for (int64_t size : type.getShape()) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(indexConstant(size));
      continue;
    }
    sizes.push_back(dynamic.front());
    dynamic = dynamic.drop_front();
  }
  return sizes;
}

Value HostEmitter::elementCount(const HostTensor &tensor) {
  Value count = indexConstant(1);
  for (Value size : tensor.sizes)
    count = builder.createOrFold<arith::MulIOp>(loc, count, size);
  return count;
}

Value HostEmitter::byteCount(const HostTensor &tensor) {
  int64_t width = std::max<int64_t>(1, tensor.type.getElementTypeBitWidth() / 8);
  return toI64(builder.createOrFold<arith::MulIOp>(loc, elementCount(tensor), indexConstant(width)));
}

// The product of two sizes, or the largest number if it has no place in 64 bits: nobody has so much memory.
Value HostEmitter::saturatedProduct(Value a, Value b) {
  auto product = arith::MulUIExtendedOp::create(builder, loc, a, b);
  auto compare = [&](arith::CmpIPredicate predicate, Value value) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, value, i64(0));
  };
  Value large = arith::OrIOp::create(builder, loc, compare(arith::CmpIPredicate::ne, product.getHigh()),
                                     compare(arith::CmpIPredicate::slt, product.getLow()));
  return arith::SelectOp::create(builder, loc, large, i64(std::numeric_limits<int64_t>::max()),
                                 product.getLow());
}

// Elements along the dynamic axes, rounded up.
Value HostEmitter::unitOf(const HostTensor &tensor) {
  Value count = i64(1);
  for (auto [axis, size] : llvm::enumerate(tensor.sizes))
    if (tensor.type.isDynamicDim(axis))
      count = saturatedProduct(count, toI64(size));
  Value units = builder.createOrFold<arith::CeilDivUIOp>(loc, count, i64(kUnitMultiple));
  return saturatedProduct(units, i64(kUnitMultiple));
}

// The pools of dynamic sizes are memory that the runtime keeps and grows.
HostEmitter::HostTensor HostEmitter::place(RankedTensorType type, ArrayRef<Value> sizes, int64_t buffer) {
  HostTensor tensor{nullptr, SmallVector<Value>(sizes), type, buffer};
  const PlannedPlace &place = plan.places[buffer];
  if ((tensor.pointer = slotOf(buffer)))
    return tensor;
  auto at = [&](Value base, Value offset) {
    return LLVM::GEPOp::create(builder, loc, pointerType, builder.getI8Type(), base, ValueRange{offset});
  };
  if (place.home == Home::argument) {
    tensor.pointer = tensors.lookup(source.getArgument(place.number)).pointer;
  } else if (place.home == Home::result) {
    tensor.pointer = resultData[place.number];
  } else if (place.number == 0) {
    tensor.pointer = at(arena, i64(place.offset));
  } else {
    Value unit = unitOf(tensor);
    auto bytes = [&](int64_t perElement) -> Value { return saturatedProduct(unit, i64(perElement)); };
    Value pool =
        call("adrt_buffer", pointerType, {context, i32(place.number), bytes(plan.pools[place.number])});
    guardMemory(pool, loc);
    tensor.pointer = at(pool, bytes(place.offset));
  }
  return tensor;
}

void HostEmitter::bindArguments() {
  for (unsigned i = 0; i < source.getNumArguments(); ++i) {
    BlockArgument argument = source.getArgument(i);
    auto type = cast<RankedTensorType>(argument.getType());
    auto field = [&](int64_t number, Type fieldType) -> Value {
      Value address =
          LLVM::GEPOp::create(builder, loc, pointerType, tensorType, entry.getArgument(1),
                              ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i), static_cast<int32_t>(number)});
      return LLVM::LoadOp::create(builder, loc, fieldType, address);
    };
    HostTensor tensor{options.device ? deviceArgument(i) : field(0, pointerType), {}, type, -1};
    Value shape;
    for (auto [axis, size] : llvm::enumerate(type.getShape())) {
      if (!ShapedType::isDynamic(size)) {
        tensor.sizes.push_back(indexConstant(size));
        continue;
      }
      if (!shape)
        shape = field(1, pointerType);
      Value address = LLVM::GEPOp::create(builder, loc, pointerType, builder.getI64Type(), shape,
                                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(axis)});
      Value value = LLVM::LoadOp::create(builder, loc, builder.getI64Type(), address);
      tensor.sizes.push_back(arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value));
    }
    tensors[argument] = tensor;
  }
  for (auto [buffer, place] : llvm::enumerate(plan.places))
    if (place.home == Home::argument)
      tensors[source.getArgument(place.number)].buffer = buffer;
}

LogicalResult HostEmitter::emitBlock(Block &block) {
  for (Operation &op : block) {
    loc = op.getLoc();
    if (!isa<LaunchOp>(op) && !touchesNoElement(op))
      launchGroup();
    if (op.hasTrait<OpTrait::IsTerminator>() && !isa<func::ReturnOp>(op))
      return success(); // the structured operation itself yields
    if (failed(emitOp(op)))
      return failure();
  }
  return success();
}

LogicalResult HostEmitter::emitOp(Operation &op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return emitLaunch(launch), success();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return emitWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitIf(branch);
  if (auto feed = dyn_cast<FeedOp>(op))
    return emitFeed(feed), success();
  if (auto receive = dyn_cast<ReceiveOp>(op))
    return emitReceive(receive), success();
  if (auto require = dyn_cast<RequireOp>(op))
    return emitRequire(require), success();
  if (op.getName().getDialectNamespace() == "check")
    return emitCheck(&op), success();
  if (auto select = dyn_cast<arith::SelectOp>(op); select && isa<RankedTensorType>(select.getType()))
    return emitSelect(&op), success();
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return emitReshape(reshape), success();
  if (isa<tensor::ExtractOp>(op))
    return emitExtract(&op), success();
  if (auto ret = dyn_cast<func::ReturnOp>(op))
    return emitReturn(ret), success();
  if (isa<BarrierOp, tensor::CastOp>(op))
    return forwardOperands(op), success();
  if (auto constant = dyn_cast<ConstantOp>(op))
    return emitConstant(constant), success();
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return emitDim(dim);
  builder.clone(op, scalars); // scalar code
  return success();
}

// The same tensors under other types.
void HostEmitter::forwardOperands(Operation &op) {
  for (auto [result, operand] : llvm::zip_equal(op.getResults(), op.getOperands())) {
    HostTensor tensor = tensors.lookup(operand);
    tensor.type = cast<RankedTensorType>(result.getType());
    tensors[result] = tensor;
  }
}

// Not -0, which has a bit.
static bool isZeroInMemory(ElementsAttr value) {
  auto splat = dyn_cast<SplatElementsAttr>(value);
  if (!splat)
    return false;
  Attribute element = splat.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(element))
    return number.getValue().bitcastToAPInt().isZero();
  auto number = dyn_cast<IntegerAttr>(element);
  return number && number.getValue().isZero();
}

void HostEmitter::emitConstant(ConstantOp constant) {
  auto type = cast<RankedTensorType>(constant.getType());
  HostTensor tensor{shared.data(builder, loc, constant.getValue()), sizesOf(type, {}), type, -1};
  tensor.isZero = isZeroInMemory(constant.getValue());
  if (options.device)
    tensor.pointer = deviceConstant(tensor.pointer, tensor);
  tensors[constant.getResult()] = tensor;
}

LogicalResult HostEmitter::emitDim(tensor::DimOp dim) {
  std::optional<int64_t> axis = dim.getConstantIndex();
  if (!axis)
    return dim.emitOpError("asks for a size along an axis that is not a constant");
  ArrayRef<Value> sizes = tensors.find(dim.getSource())->second.sizes;
  if (*axis < 0 || *axis >= static_cast<int64_t>(sizes.size()))
    return dim.emitOpError("asks for dimension ") << *axis << " of rank " << sizes.size();
  scalars.map(dim.getResult(), sizes[*axis]);
  return success();
}

void HostEmitter::copyBytes(Value target, Value source, Value bytes) {
  if (options.device)
    guard(call("adrt_copy", builder.getI32Type(), {context, target, source, bytes}));
  else
    LLVM::MemcpyOp::create(builder, loc, target, source, bytes, /*isVolatile=*/false);
}

void HostEmitter::emitReshape(ReshapeOp reshape) {
  HostTensor tensor = tensors.lookup(reshape.getInput());
  tensor.type = cast<RankedTensorType>(reshape.getResult().getType());
  SmallVector<Value> dynamic;
  for (Value size : reshape.getSizes())
    dynamic.push_back(scalars.lookupOrDefault(size));
  tensor.sizes = sizesOf(tensor.type, dynamic);
  tensors[reshape.getResult()] = tensor;
}

void HostEmitter::emitSelect(Operation *op) {
  auto select = cast<arith::SelectOp>(op);
  const HostTensor onTrue = tensors.lookup(select.getTrueValue()),
                   onFalse = tensors.lookup(select.getFalseValue());
  Value condition = scalars.lookupOrDefault(select.getCondition());
  HostTensor chosen = onTrue;
  chosen.buffer = -1;
  chosen.isZero = onTrue.isZero && onFalse.isZero;
  chosen.pointer = arith::SelectOp::create(builder, loc, condition, onTrue.pointer, onFalse.pointer);
  for (auto [size, other] : llvm::zip_equal(chosen.sizes, onFalse.sizes))
    size = builder.createOrFold<arith::SelectOp>(loc, condition, size, other);
  HostTensor result = place(cast<RankedTensorType>(select.getType()), chosen.sizes, bufferNumber(op, 0));
  copy(result, chosen);
  tensors[select.getResult()] = result;
}

// The host reads one element, e.g. the condition of a branch.
void HostEmitter::emitExtract(Operation *op) {
  auto extract = cast<tensor::ExtractOp>(op);
  const HostTensor &tensor = tensors[extract.getTensor()];
  Value index = indexConstant(0);
  for (auto [position, size] : llvm::zip_equal(extract.getIndices(), tensor.sizes)) {
    index = arith::MulIOp::create(builder, loc, index, size);
    index = arith::AddIOp::create(builder, loc, index, scalars.lookupOrDefault(position));
  }
  Type element = tensor.type.getElementType();
  Type memory = element.isInteger(1) ? Type(builder.getI8Type()) : element;
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    memory = builder.getIntegerType(element.getIntOrFloatBitWidth());
  Value address =
      LLVM::GEPOp::create(builder, loc, pointerType, memory, tensor.pointer, ValueRange{toI64(index)});
  if (options.device) {
    Value slot = stackSlot(memory, 1);
    readFromDevice(slot, address, i64(memory.getIntOrFloatBitWidth() / 8));
    address = slot;
  }
  Value value = LLVM::LoadOp::create(builder, loc, memory, address);
  if (element.isInteger(1))
    value = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                                  arith::ConstantIntOp::create(builder, loc, memory, 0));
  else if (memory != element)
    value = arith::BitcastOp::create(builder, loc, element, value);
  scalars.map(extract.getResult(), value);
}
