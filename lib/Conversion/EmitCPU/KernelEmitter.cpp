// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Arguments, sizes and roots of the kernel emitter.

#include "KernelEmitter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

KernelEmitter::KernelEmitter(KernelOp kernel, func::FuncOp function, int64_t lanes)
    : kernel(kernel), function(function), builder(function.getContext()), loc(kernel.getLoc()),
      vectorLanes(lanes) {}

LogicalResult KernelEmitter::emit() {
  builder.setInsertionPointToStart(&function.getBody().front());
  caches.emplace_back();
  if (failed(bindArguments()) || failed(bindScalars()) || failed(emitRoots()))
    return failure();
  func::ReturnOp::create(builder, loc);
  return success();
}

// Arguments of the function: per tensor a pointer and its dynamic sizes, scalars as they are; then the same
// for each result; then the range.
LogicalResult KernelEmitter::bindArguments() {
  unsigned next = 0;
  auto buffer = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    Buffer result;
    result.pointer = function.getArgument(next++);
    result.element = tensor.getElementType();
    result.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
    for (int64_t size : tensor.getShape())
      result.sizes.push_back(ShapedType::isDynamic(size) ? Value(function.getArgument(next++))
                                                         : indexConstant(size));
    return result;
  };
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    if (isa<RankedTensorType>(argument.getType()))
      buffers[argument] = buffer(argument.getType());
    else
      scalars.map(argument, function.getArgument(next++));
  }
  for (Type type : kernel.getResultTypes())
    results.push_back(buffer(type));
  rangeBegin = function.getArgument(next++);
  rangeEnd = function.getArgument(next++);
  return success();
}

// Scalars of the body (constants, sizes, index arithmetic) do not depend on the iteration: they come first.
LogicalResult KernelEmitter::bindScalars() {
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (isa<linalg::GenericOp, linalg::FillOp, tensor::EmptyOp, tensor::InsertSliceOp, tensor::ExtractSliceOp,
            tensor::CastOp>(op))
      continue;
    if (auto dim = dyn_cast<tensor::DimOp>(op)) {
      std::optional<int64_t> axis = dim.getConstantIndex();
      if (!axis)
        return dim.emitOpError("asks for a size along an axis that is not a constant");
      scalars.map(dim.getResult(), sizeOf(dim.getSource(), *axis));
      continue;
    }
    if (auto read = dyn_cast<tensor::ExtractOp>(op)) {
      IRMapping none;
      FailureOr<Value> value = extract(read, none);
      if (failed(value))
        return failure();
      scalars.map(read.getResult(), *value);
      continue;
    }
    if (llvm::any_of(op.getOperandTypes(), [](Type type) { return isa<RankedTensorType>(type); }) ||
        op.getNumRegions() != 0)
      return op.emitOpError("is not linalg on tensors; the CPU emitter cannot make code of it");
    builder.clone(op, scalars);
  }
  return success();
}

Value KernelEmitter::sizeOf(Value tensor, int64_t axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return indexConstant(type.getDimSize(axis));
  if (auto it = buffers.find(tensor); it != buffers.end())
    return it->second.sizes[axis];
  Operation *op = tensor.getDefiningOp();
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return scalars.lookup(empty.getDynamicSize(axis));
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return sizeOf(fill.getOutputs()[0], axis);
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return sizeOf(generic.getDpsInits()[cast<OpResult>(tensor).getResultNumber()], axis);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return sizeOf(insert.getDest(), axis);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return scalars.lookup(cast<Value>(slice.getMixedSizes()[axis]));
  return sizeOf(cast<tensor::CastOp>(op).getSource(), axis);
}

// Whether the value is computed from operands of its own shape, element by element: then all of it is one
// long vector.
bool KernelEmitter::isFlat(Value root, ArrayRef<int64_t> shape) {
  if (buffers.count(root) || root.getDefiningOp<linalg::FillOp>())
    return true;
  auto generic = root.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumReductionLoops() > 0)
    return false;
  for (OpOperand &operand : generic->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()) &&
        !generic.getMatchingIndexingMap(&operand).isIdentity())
      return false;
  for (Operation &op : *generic.getBlock())
    if (isa<linalg::IndexOp, tensor::ExtractOp>(op))
      return false;
  return llvm::all_of(generic.getDpsInputOperands(), [&](OpOperand *input) {
    return !isa<RankedTensorType>(input->get().getType()) || isFlat(input->get(), shape);
  });
}

static bool dependsOn(Value root, function_ref<bool(linalg::GenericOp)> predicate) {
  auto generic = root.getDefiningOp<linalg::GenericOp>();
  if (!generic)
    return false;
  return predicate(generic) ||
         llvm::any_of(generic.getDpsInputs(), [&](Value input) { return dependsOn(input, predicate); });
}

// Results that are computed over one iteration space share a nest, so that a result may overwrite an operand.
bool KernelEmitter::sharesNest(ValueRange roots) {
  auto shape = cast<RankedTensorType>(roots.front().getType()).getShape();
  return llvm::all_of(roots, [&](Value root) {
    if (cast<RankedTensorType>(root.getType()).getShape() != shape)
      return false;
    if (root.getDefiningOp<linalg::FillOp>() || root.getDefiningOp<tensor::ExtractSliceOp>() ||
        buffers.count(root))
      return true;
    auto generic = root.getDefiningOp<linalg::GenericOp>();
    return generic && generic.getNumReductionLoops() == 0;
  });
}

LogicalResult KernelEmitter::storeRoots(ValueRange roots, ArrayRef<Buffer> destinations,
                                        ArrayRef<Position> positions) {
  Scope scope(*this);
  SmallVector<SmallVector<Value>> values;
  for (Value root : roots) {
    auto computed = evaluate(root, positions);
    if (failed(computed))
      return failure();
    values.push_back(*computed);
  }
  for (auto [destination, computed] : llvm::zip_equal(destinations, values))
    for (auto [position, value] : llvm::zip_equal(positions, computed))
      store(destination, position, value);
  return success();
}

LogicalResult KernelEmitter::emitRoots() {
  ValueRange roots = kernel.getBody().front().getTerminator()->getOperands();
  auto setTiles = [&](StringRef tiles) { function->setAttr("ad.tiles", builder.getStringAttr(tiles)); };
  bool plain = sharesNest(roots) || (roots.size() == 1 && roots[0].getDefiningOp<linalg::GenericOp>() &&
                                     roots[0].getDefiningOp<linalg::GenericOp>().getNumResults() == 1);
  if (!plain) {
    setTiles("one");
    for (auto [root, destination] : llvm::zip_equal(roots, results))
      if (failed(emitRoot(root, destination)))
        return failure();
    return success();
  }
  Nest nest;
  nest.sizes = results.front().sizes;
  nest.shape = results.front().shape;
  nest.begin = rangeBegin;
  nest.end = rangeEnd;
  flat = llvm::all_of(roots, [&](Value root) { return isFlat(root, nest.shape); });
  if (flat) {
    setTiles("flat");
    nest.sizes = {rangeEnd};
    nest.shape = {ShapedType::kDynamic};
  } else {
    setTiles(nest.shape.empty() ? "one" : "outer");
    nest.vectorize = llvm::none_of(roots, [&](Value root) {
      return dependsOn(root, [&](linalg::GenericOp generic) { return usesLanes(generic); });
    });
    nest.block = llvm::any_of(roots, [&](Value root) {
      return dependsOn(root, [](linalg::GenericOp generic) { return generic.getNumReductionLoops() > 0; });
    });
  }
  return emitNest(nest, [&](ArrayRef<Position> positions) { return storeRoots(roots, results, positions); });
}

// One result that needs its own statements: slices inserted one after another, a scan, or a copy.
LogicalResult KernelEmitter::emitRoot(Value root, const Buffer &destination) {
  if (auto insert = root.getDefiningOp<tensor::InsertSliceOp>())
    return emitInsert(insert, destination);
  if (root.getDefiningOp<tensor::EmptyOp>())
    return success(); // every element is written by what follows
  if (auto generic = root.getDefiningOp<linalg::GenericOp>();
      generic && generic.getNumReductionLoops() > 0 &&
      generic.getMatchingIndexingMap(generic.getDpsInitOperand(cast<OpResult>(root).getResultNumber()))
              .getNumResults() == generic.getNumLoops() &&
      generic.getNumResults() > 1)
    return emitScan(generic, destination);
  Nest nest;
  nest.sizes = destination.sizes;
  nest.shape = destination.shape;
  nest.vectorize = !dependsOn(root, [&](linalg::GenericOp generic) { return usesLanes(generic); });
  return emitNest(nest,
                  [&](ArrayRef<Position> positions) { return storeRoots(root, destination, positions); });
}

LogicalResult KernelEmitter::emitInsert(tensor::InsertSliceOp insert, const Buffer &destination) {
  // An argument that is inserted into is tied: its content is there already.
  if (!buffers.count(insert.getDest()) && failed(emitRoot(insert.getDest(), destination)))
    return failure();
  auto sourceType = insert.getSourceType();
  if (sourceType.getRank() != insert.getDestType().getRank())
    return insert.emitOpError("changes the rank; the CPU emitter expects equal ranks");
  Nest nest;
  nest.shape.assign(sourceType.getShape().begin(), sourceType.getShape().end());
  for (int64_t axis = 0; axis < sourceType.getRank(); ++axis)
    nest.sizes.push_back(sizeOf(insert.getSource(), axis));
  auto valueOf = [&](OpFoldResult number) -> Value {
    if (auto attr = dyn_cast<Attribute>(number))
      return indexConstant(cast<IntegerAttr>(attr).getInt());
    return scalars.lookup(cast<Value>(number));
  };
  return emitNest(nest, [&](ArrayRef<Position> positions) -> LogicalResult {
    Scope scope(*this);
    auto values = evaluate(insert.getSource(), positions);
    if (failed(values))
      return failure();
    for (auto [position, value] : llvm::zip_equal(positions, *values)) {
      Position target;
      for (auto [index, offset, stride] :
           llvm::zip_equal(position, insert.getMixedOffsets(), insert.getMixedStrides())) {
        Value strideValue = valueOf(stride);
        Value base = binary<arith::AddIOp>(binary<arith::MulIOp>(index.base, strideValue), valueOf(offset));
        std::optional<int64_t> factor = getConstantIntValue(stride);
        if (!factor && index.step != 0)
          return insert.emitOpError("has a dynamic stride along the vector axis");
        target.push_back({base, index.step * factor.value_or(0), nullptr});
      }
      store(destination, target, value);
    }
    return success();
  });
}

// A running reduction: each step is stored; the other output carries the accumulator.
LogicalResult KernelEmitter::emitScan(linalg::GenericOp scan, const Buffer &destination) {
  SmallVector<unsigned> dims;
  scan.getReductionDims(dims);
  AffineMap stepMap = scan.getMatchingIndexingMap(scan.getDpsInitOperand(0));
  AffineMap lineMap = scan.getMatchingIndexingMap(scan.getDpsInitOperand(1));
  Value lines = scan.getDpsInits()[1];
  auto lineType = cast<RankedTensorType>(lines.getType());
  Nest nest;
  nest.shape.assign(lineType.getShape().begin(), lineType.getShape().end());
  for (int64_t axis = 0; axis < lineType.getRank(); ++axis)
    nest.sizes.push_back(sizeOf(lines, axis));
  return emitNest(nest, [&](ArrayRef<Position> positions) -> LogicalResult {
    for (const Position &position : positions) {
      SmallVector<Index> loops = loopsFromOutput(scan, lineMap, position);
      FailureOr<Value> start = evaluateOne(lines, position);
      if (failed(start))
        return failure();
      Value initial = lanes > 1 ? splat(*start, lanes) : *start;
      auto loop = scf::ForOp::create(builder, loc, indexConstant(0), loopSize(scan, dims.front()),
                                     indexConstant(1), initial);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Scope scope(*this);
      loops[dims.front()] = {loop.getInductionVar(), 0, nullptr};
      Value carried = loop.getRegionIterArg(0);
      // The step output has no accumulator of its own; its block argument is unused.
      auto values = applyBody(scan, loops, ValueRange{carried, carried});
      if (failed(values))
        return failure();
      store(destination, apply(stepMap, loops), values->front());
      scf::YieldOp::create(builder, loc, lanes > 1 ? splat(values->back(), lanes) : values->back());
    }
    return success();
  });
}
