// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Dispatches operations of the host program, and lowers those that name or move tensors.

#include "HostEmitter.h"
#include "Control/LoopRemarks.h"
#include "adjoint/Runtime/adrt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::host;

HostEmitter::HostEmitter(func::FuncOp source, HostModule &module, const HostOptions &options)
    : entry(source, module, options), builder(entry.builder), loc(entry.loc), plan(*MemoryPlan::read(source)),
      values(entry), descriptors(entry), buffers(entry, plan, values, descriptors),
      copies(entry, values, buffers), interface(entry, values, buffers, descriptors, copies),
      services(entry, values, buffers, descriptors), polls(entry),
      launches(entry, values, buffers, copies, descriptors, polls),
      carries(entry, values, buffers, copies, services),
      forLoops(entry, values, buffers, carries, polls, *this),
      whileLoops(entry, values, buffers, carries, polls, *this),
      branches(entry, values, buffers, copies, *this) {}

LogicalResult HostEmitter::emit() {
  buffers.bindArena();
  if (entry.options.device)
    launches.bindDevice();
  interface.bindArguments();
  buffers.bindStaticResults();
  if (failed(emitBlock(entry.source.getBody().front())))
    return failure();
  func::ReturnOp::create(builder, loc, entry.i32(ADRT_OK));
  return success();
}

LogicalResult HostEmitter::emitBlock(Block &block) {
  for (Operation &op : block) {
    loc = op.getLoc();
    if (!isa<LaunchOp>(op))
      launches.flushBeforeOther(op);
    if (op.hasTrait<OpTrait::IsTerminator>() && !isa<func::ReturnOp>(op))
      return success(); // the structured operation itself yields
    if (failed(emitOp(op)))
      return failure();
  }
  return success();
}

LogicalResult HostEmitter::emitOp(Operation &op) {
  if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
    return emitControlFlow(op);
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return emitDim(dim);
  if (auto launch = dyn_cast<LaunchOp>(op))
    launches.emit(launch);
  else if (auto feed = dyn_cast<FeedOp>(op))
    services.emitFeed(feed);
  else if (auto receive = dyn_cast<ReceiveOp>(op))
    services.emitReceive(receive);
  else if (auto require = dyn_cast<RequireOp>(op))
    services.emitRequire(require);
  else if (op.getName().getDialectNamespace() == "check")
    services.emitCheck(&op);
  else if (auto select = dyn_cast<arith::SelectOp>(op); select && isa<RankedTensorType>(select.getType()))
    emitSelect(select);
  else if (auto reshape = dyn_cast<ReshapeOp>(op))
    emitReshape(reshape);
  else if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    emitExtract(extract);
  else if (auto ret = dyn_cast<func::ReturnOp>(op))
    interface.emitReturn(ret);
  else if (isa<BarrierOp, tensor::CastOp>(op))
    forwardOperands(op);
  else if (auto copy = dyn_cast<CopyOp>(op))
    forwardCopied(copy);
  else if (auto constant = dyn_cast<ConstantOp>(op))
    emitConstant(constant);
  else if (!isa<BufferOp>(op))
    values.clone(op);
  return success();
}

LogicalResult HostEmitter::emitControlFlow(Operation &op) {
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return branches.emit(branch);
  if (entry.options.device)
    reportWaits(&op);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return forLoops.emit(loop);
  return whileLoops.emit(cast<scf::WhileOp>(op));
}

// The same tensors under other types.
void HostEmitter::forwardOperands(Operation &op) {
  for (auto [result, operand] : llvm::zip_equal(op.getResults(), op.getOperands())) {
    HostTensor tensor = values.tensor(operand);
    tensor.type = cast<RankedTensorType>(result.getType());
    values.bind(result, tensor);
  }
}

// The loop, branch or terminator after the copy makes it, and arith.select has made its own.
void HostEmitter::forwardCopied(CopyOp copy) {
  values.bind(copy.getResult(), values.tensor(copy.getSource()));
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
  HostTensor tensor{entry.module.data(builder, loc, constant.getValue()), values.sizesOf(type, {}), type, -1,
                    isZeroInMemory(constant.getValue())};
  if (entry.options.device)
    tensor.pointer = copies.constantOnDevice(tensor.pointer, tensor);
  values.bind(constant.getResult(), tensor);
}

LogicalResult HostEmitter::emitDim(tensor::DimOp dim) {
  std::optional<int64_t> axis = dim.getConstantIndex();
  if (!axis)
    return dim.emitOpError("asks for a size along an axis that is not a constant");
  SmallVector<Value> sizes = values.tensor(dim.getSource()).sizes;
  if (*axis < 0 || *axis >= static_cast<int64_t>(sizes.size()))
    return dim.emitOpError("asks for dimension ") << *axis << " of rank " << sizes.size();
  values.bindScalar(dim.getResult(), sizes[*axis]);
  return success();
}

void HostEmitter::emitReshape(ReshapeOp reshape) {
  HostTensor tensor = values.tensor(reshape.getInput());
  tensor.type = cast<RankedTensorType>(reshape.getResult().getType());
  tensor.sizes = values.sizesOf(tensor.type, values.scalars(reshape.getSizes()));
  values.bind(reshape.getResult(), tensor);
}

void HostEmitter::emitSelect(arith::SelectOp select) {
  const HostTensor onTrue = values.tensor(select.getTrueValue()),
                   onFalse = values.tensor(select.getFalseValue());
  Value condition = values.scalar(select.getCondition());
  HostTensor chosen = onTrue;
  chosen.buffer = -1;
  chosen.isZero = onTrue.isZero && onFalse.isZero;
  chosen.pointer = arith::SelectOp::create(builder, loc, condition, onTrue.pointer, onFalse.pointer);
  for (auto [size, other] : llvm::zip_equal(chosen.sizes, onFalse.sizes))
    size = builder.createOrFold<arith::SelectOp>(loc, condition, size, other);
  HostTensor result = buffers.tensorIn(plan.bufferOf(select->getResult(0)),
                                       cast<RankedTensorType>(select.getType()), chosen.sizes);
  copies.copy(result, chosen);
  values.bind(select.getResult(), result);
}

// The host reads one element, e.g. the condition of a branch.
void HostEmitter::emitExtract(tensor::ExtractOp extract) {
  HostTensor tensor = values.tensor(extract.getTensor());
  Value index = entry.indexConstant(0);
  for (auto [position, size] : llvm::zip_equal(extract.getIndices(), tensor.sizes)) {
    index = arith::MulIOp::create(builder, loc, index, size);
    index = arith::AddIOp::create(builder, loc, index, values.scalar(position));
  }
  Type element = tensor.type.getElementType();
  Type memory = element.isInteger(1) ? Type(builder.getI8Type()) : element;
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    memory = builder.getIntegerType(element.getIntOrFloatBitWidth());
  Value address = LLVM::GEPOp::create(builder, loc, entry.pointerType, memory, tensor.pointer,
                                      ValueRange{entry.toI64(index)});
  if (entry.options.device) {
    Value variable = entry.stackSlot(memory, 1);
    copies.readFromDevice(variable, address, entry.i64(memory.getIntOrFloatBitWidth() / 8));
    address = variable;
  }
  Value value = LLVM::LoadOp::create(builder, loc, memory, address);
  if (element.isInteger(1))
    value = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                                  arith::ConstantIntOp::create(builder, loc, memory, 0));
  else if (memory != element)
    value = arith::BitcastOp::create(builder, loc, element, value);
  values.bindScalar(extract.getResult(), value);
}
