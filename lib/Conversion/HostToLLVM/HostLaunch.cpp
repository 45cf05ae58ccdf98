// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Launches of kernels: a call over all units of work, or, where there is enough work, one over ranges of them
// on the threads of the context. Before work that takes long, the program asks whether the host wants it to
// stop.

#include "HostEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;

// Steps that reading operands and writing one element of a result count as.
static constexpr int64_t kStepsOfElement = 8;

// Per tensor a pointer and its dynamic sizes, scalars as they are; then the same for each result.
SmallVector<Value> HostEmitter::operandsOf(LaunchOp launch) {
  SmallVector<Value> operands;
  auto append = [&](const HostTensor &tensor) {
    operands.push_back(tensor.pointer);
    for (auto [size, value] : llvm::zip_equal(tensor.type.getShape(), tensor.sizes))
      if (ShapedType::isDynamic(size))
        operands.push_back(value);
  };
  for (Value input : launch.getInputs()) {
    if (isa<RankedTensorType>(input.getType()))
      append(tensors.lookup(input));
    else
      operands.push_back(scalars.lookupOrDefault(input));
  }
  SmallVector<Value> dynamic;
  for (Value size : launch.getSizes())
    dynamic.push_back(scalars.lookupOrDefault(size));
  ValueRange rest = dynamic;
  auto tied = launch.getTied();
  for (OpResult result : launch->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<Value> sizes = sizesOf(type, rest.take_front(type.getNumDynamicDims()));
    rest = rest.drop_front(type.getNumDynamicDims());
    HostTensor tensor = place(type, sizes, bufferNumber(launch, result.getResultNumber()));
    if (tied && (*tied)[result.getResultNumber()] >= 0)
      copy(tensor, tensors.lookup(launch.getInputs()[(*tied)[result.getResultNumber()]]));
    append(tensor);
    tensors[result] = tensor;
  }
  return operands;
}

// What is not known may be large.
static int64_t elementsOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return 1;
  return tensor.hasStaticShape() ? tensor.getNumElements() : kWorkBetweenPolls;
}

static int64_t workOnResults(LaunchOp launch, func::FuncOp kernel) {
  auto depth = kernel->getAttrOfType<IntegerAttr>("ad.depth");
  int64_t elements = 1;
  for (Type type : launch.getResultTypes())
    elements = std::max(elements, elementsOf(type));
  return llvm::MulOverflow(elements, kStepsOfElement + (depth ? depth.getInt() : 0), elements) ? INT64_MAX
                                                                                               : elements;
}

int64_t HostEmitter::workOf(LaunchOp launch) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(launch, launch.getKernelAttr());
  int64_t work = workOnResults(launch, kernel);
  for (Type type : launch.getInputs().getTypes())
    work = std::max(work, elementsOf(type));
  return std::min(work, kWorkBetweenPolls);
}

// The work before the next poll is bounded, whichever way the program takes.
void HostEmitter::pollBefore(int64_t work) {
  if (work >= kWorkBetweenPolls - workSincePoll)
    poll();
  workSincePoll += work;
}

void HostEmitter::poll() {
  guard(call("adrt_poll", builder.getI32Type(), context));
  workSincePoll = 0;
}

// In the first of so many iterations, which are counted from 0; a power of two.
void HostEmitter::pollEvery(Value iteration, int64_t iterations) {
  Value place = arith::AndIOp::create(builder, loc, iteration, i64(iterations - 1));
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, place, i64(0));
  auto branch = scf::IfOp::create(builder, loc, builder.getI32Type(), isFirst, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(&branch.getThenRegion().front());
  scf::YieldOp::create(builder, loc, call("adrt_poll", builder.getI32Type(), context));
  builder.setInsertionPointToStart(&branch.getElseRegion().front());
  scf::YieldOp::create(builder, loc, i32(0));
  builder.setInsertionPointAfter(branch);
  guard(branch.getResult(0));
}

void HostEmitter::emitLaunch(LaunchOp launch) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(launch, launch.getKernelAttr());
  if (!options.device) // there, adrt_launch asks
    pollBefore(workOf(launch));
  if (dependsOnGroup(launch))
    launchGroup();
  SmallVector<Value> operands = operandsOf(launch);
  if (options.device && kernel->hasAttr(kPartialReductionsAttr))
    return launchDivided(launch, kernel, operands);
  if (options.device)
    return launchOnDevice(launch, kernel, operands);
  Value number = options.profile ? i32(shared.kernelNumber(kernel.getSymName())) : Value();
  if (options.profile)
    call("adrt_kernel_begin", nullptr, {context, number});
  launchOnProcessor(launch, kernel, operands);
  if (options.profile)
    call("adrt_kernel_end", nullptr, {context, number});
}

func::FuncOp ad::companionOf(func::FuncOp kernel, StringRef suffix) {
  return kernel->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>((kernel.getSymName() + suffix).str());
}

void HostEmitter::launchOnProcessor(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands) {
  Value units = unitsOf(launch, kernel);
  auto fewestThreads = kernel->getAttrOfType<IntegerAttr>(kPartialReductionsAttr);
  bool isDivisible = bool(fewestThreads);
  GroupedLaunch whole = {launch, kernel, llvm::to_vector(operands), units};
  if (joinsGroup(whole))
    return addToGroup(std::move(whole));
  launchGroup();
  if (!isDivisible)
    return launchUnits(whole);
  Value nanoseconds = nanosecondsOf(kernel, operands);
  if (fewestThreads.getInt() == 1)
    return guardMemory(launchPartialReductions(launch, kernel, operands, nanoseconds), loc);
  // One thread needs no partial results, and several do not where there are units for all of them.
  Value threads = call("adrt_threads_for", builder.getI64Type(), {context, nanoseconds});
  Value enough = arith::SelectOp::create(
      builder, loc, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, threads, i64(1)),
      arith::MulIOp::create(builder, loc, threads, i64(2)), i64(0));
  Value several = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, toI64(units), enough);
  auto branch = scf::IfOp::create(builder, loc, pointerType, several, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard insertion(builder);
    builder.setInsertionPointToStart(branch.elseBlock());
    launchUnits(whole);
    scf::YieldOp::create(builder, loc, context); // anything but null
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, loc, launchPartialReductions(launch, kernel, operands, nanoseconds));
  }
  guardMemory(branch.getResult(0), loc);
}

// All units of the kernel, on threads where there are several.
void HostEmitter::launchUnits(const GroupedLaunch &launch) {
  if (launch.isNarrow())
    runWhole(launch.launch, launch.kernel, launch.operands, launch.units);
  else
    callOnThreads(launch.kernel, launch.operands, launch.units,
                  nanosecondsOf(launch.kernel, launch.operands));
}

// The partial results, then the kernel from them. Returns their memory, null where there was none.
Value HostEmitter::launchPartialReductions(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands,
                                           Value nanoseconds) {
  func::FuncOp sizesOf = companionOf(kernel, kPartialSizesSuffix), merge = companionOf(kernel, kMergeSuffix);
  auto sizes = func::CallOp::create(builder, loc, sizesOf, operands);
  // Behind the pools of the plan.
  Value number = i32(plan.pools.size());
  Value scratch = call("adrt_buffer", pointerType, {context, number, toI64(sizes.getResult(1))});
  Value null = LLVM::ZeroOp::create(builder, loc, pointerType);
  Value isThere = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, scratch, null);
  auto branch = scf::IfOp::create(builder, loc, isThere);
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  auto withScratch = llvm::to_vector(operands);
  withScratch.push_back(scratch);
  callOnThreads(companionOf(kernel, kPartialSuffix), withScratch, sizes.getResult(0), nanoseconds);
  callOnThreads(merge, withScratch, unitsOf(launch, merge), i64(0));
  return scratch;
}

// About how long the kernel takes on one thread.
Value HostEmitter::nanosecondsOf(func::FuncOp kernel, ArrayRef<Value> operands) {
  if (auto known = kernel->getAttrOfType<IntegerAttr>(kNanosecondsAttr))
    return i64(known.getInt());
  func::FuncOp estimate = companionOf(kernel, kNanosecondsSuffix);
  return toI64(func::CallOp::create(builder, loc, estimate, operands).getResult(0));
}

Value HostEmitter::unitsOf(LaunchOp launch, func::FuncOp kernel) {
  WorkUnits spaces = *unitsFromAttribute(kernel->getAttr(kUnitsAttr));
  Value units = indexConstant(0);
  for (const UnitSpace &space : spaces)
    units = builder.createOrFold<arith::AddIOp>(
        loc, units, unitsAround(space, tensors.lookup(launch.getResult(space.result))));
  return units;
}

// The product of the units of the loops around a result.
Value HostEmitter::unitsAround(const UnitSpace &space, const HostTensor &result) {
  Value units = indexConstant(1);
  for (const UnitLoop &loop : space.loops) {
    Value elements = indexConstant(1);
    for (int64_t axis : loop.axes)
      elements = builder.createOrFold<arith::MulIOp>(loc, elements, result.sizes[axis]);
    Value steps = builder.createOrFold<arith::CeilDivUIOp>(loc, elements, indexConstant(loop.step));
    units = builder.createOrFold<arith::MulIOp>(loc, units, steps);
  }
  return units;
}

// What an operand is in memory: sizes are 64 bits wide, and LLVM has no floats of 8 bits.
static Type typeInMemory(Type type) {
  if (isa<IndexType>(type))
    return IntegerType::get(type.getContext(), 64);
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32)
    return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth());
  return type;
}

static Value convert(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (isa<IndexType>(value.getType()) || isa<IndexType>(type))
    return arith::IndexCastOp::create(builder, loc, type, value);
  return arith::BitcastOp::create(builder, loc, type, value);
}

Type HostEmitter::closureType(ArrayRef<Value> operands) {
  SmallVector<Type> types;
  for (Value operand : operands)
    types.push_back(typeInMemory(operand.getType()));
  return LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
}

void HostEmitter::storeFields(Value slot, ArrayRef<Value> fields) {
  Type type = closureType(fields);
  for (auto [i, field] : llvm::enumerate(fields)) {
    Value address = LLVM::GEPOp::create(builder, loc, pointerType, type, slot,
                                        ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
    Value stored = convert(builder, loc, field, typeInMemory(field.getType()));
    LLVM::StoreOp::create(builder, loc, stored, address);
  }
}

Value HostEmitter::closureOf(ArrayRef<Value> operands) {
  Value closure = stackSlot(closureType(operands), 1);
  storeFields(closure, operands);
  return closure;
}

// The operands go through memory to a function of the type that the runtime calls.
std::pair<Value, Value> HostEmitter::bodyOf(func::FuncOp kernel, ArrayRef<Value> operands) {
  shared.noteCall(kernel);
  Value closure = closureOf(operands);
  func::FuncOp range = shared.rangeFunction(kernel, closureType(operands));
  Value function = func::ConstantOp::create(builder, loc, range.getFunctionType(), range.getSymName());
  return {UnrealizedConversionCastOp::create(builder, loc, pointerType, function).getResult(0), closure};
}

void HostEmitter::callOnThreads(func::FuncOp kernel, ArrayRef<Value> operands, Value units,
                                Value nanoseconds) {
  auto [body, closure] = bodyOf(kernel, operands);
  call("adrt_parallel_for", nullptr, {context, toI64(units), nanoseconds, body, closure});
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
    Value value = LLVM::LoadOp::create(builder, loc, typeInMemory(type), address);
    operands.push_back(convert(builder, loc, value, type));
  }
  for (Value bound : body->getArguments().drop_front())
    operands.push_back(convert(builder, loc, bound, builder.getIndexType()));
  func::CallOp::create(builder, loc, kernel, operands);
  func::ReturnOp::create(builder, loc);
  return known;
}
