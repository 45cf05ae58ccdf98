// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels that look for an index outside of a tensor: reductions over the loops that the indices depend on.
// The first one finds the minimum of the numbers of iterations that leave the tensor, and is divided over the
// machine as others are. The second one, which runs only if there is such an iteration, adds up its index
// along each axis, and 0 for all other iterations.

#include "FirstOutOfBounds.h"
#include "HostSizes.h"
#include "adjoint/Dialect/AD/Transforms/KernelClass.h"
#include "adjoint/Dialect/AD/Transforms/LoopNestCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::ad;

namespace {

/// The scalar code of the indices, and the loops that it needs.
struct IndexCode {
  SmallVector<Operation *> ops; ///< in their order
  llvm::SmallBitVector loops;
  bool readsAccumulator = false;
};

class FirstOutOfBounds {
public:
  FirstOutOfBounds(linalg::GenericOp generic, tensor::ExtractOp extract, ArrayRef<unsigned> axes)
      : generic(generic), extract(extract), axes(axes), loc(extract.getLoc()) {
    for (unsigned axis : axes)
      indices.push_back(extract.getIndices()[axis]);
  }

  FusionOp write(OpBuilder &host, LaunchOp launch, KernelOp kernel, Value first);

private:
  void findCode();
  void addLoopsOfOperand(OpOperand &operand);
  void closeLoops();
  bool usesKeptLoopsOnly(OpOperand &operand);
  void cloneProducers(OpBuilder &builder, KernelOp kernel, Block &body);
  Value sizeOf(OpBuilder &builder, Value tensor, int64_t axis);
  Value extentOf(OpBuilder &builder, unsigned loop);

  bool mergesLoops();
  Value elementAt(OpBuilder &builder, OpOperand &operand, ArrayRef<Value> loops);
  void addInputs(OpBuilder &builder, SmallVectorImpl<Value> &inputs, SmallVectorImpl<AffineMap> &maps);

  using Combine =
      function_ref<Value(OpBuilder &, Value number, ValueRange indices, ValueRange more, Value accumulator)>;
  Value reduce(OpBuilder &builder, int64_t start, ValueRange more, Combine combine);
  Value isOutside(OpBuilder &builder, ValueRange found);
  SmallVector<Value> findFirst(OpBuilder &builder);
  SmallVector<Value> readIndices(OpBuilder &builder, Value first);

  linalg::GenericOp generic;
  tensor::ExtractOp extract;
  ArrayRef<unsigned> axes;
  Location loc;
  SmallVector<Value> indices;
  IndexCode code;
  SmallVector<OpOperand *> operands; ///< that use no other loops
  SmallVector<unsigned> kept;        ///< the loops, in their order
  IRMapping mapping;                 ///< from the kernel to the one that is written
  SmallVector<Value> sizes, extents; ///< along the axes, and of the kept loops
};
} // namespace

//===- Which loops -===//

void FirstOutOfBounds::addLoopsOfOperand(OpOperand &operand) {
  for (unsigned loop = 0; loop < generic.getNumLoops(); ++loop)
    if (generic.getMatchingIndexingMap(&operand).isFunctionOfDim(loop))
      code.loops.set(loop);
}

void FirstOutOfBounds::findCode() {
  llvm::SmallPtrSet<Operation *, 8> needed;
  for (Value index : indices)
    if (Operation *op = index.getDefiningOp())
      needed.insert(op);
  bool isReduction = generic.getNumReductionLoops() > 0;
  auto use = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument) {
      needed.insert(value.getDefiningOp());
    } else if (argument.getOwner() == generic.getBlock()) {
      OpOperand &operand = *generic.getMatchingOpOperand(argument);
      code.readsAccumulator |= isReduction && generic.isDpsInit(&operand);
      addLoopsOfOperand(operand);
    }
  };
  code.loops.resize(generic.getNumLoops());
  llvm::for_each(indices, use);
  for (Operation &op : llvm::reverse(generic.getBlock()->without_terminator())) {
    if (!needed.contains(&op))
      continue;
    code.ops.push_back(&op);
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      code.loops.set(index.getDim());
    llvm::for_each(op.getOperands(), use);
  }
  std::reverse(code.ops.begin(), code.ops.end());
}

bool FirstOutOfBounds::usesKeptLoopsOnly(OpOperand &operand) {
  AffineMap map = generic.getMatchingIndexingMap(&operand);
  return llvm::all_of(llvm::seq<unsigned>(0, generic.getNumLoops()),
                      [&](unsigned loop) { return code.loops.test(loop) || !map.isFunctionOfDim(loop); });
}

// A loop that may have no iterations belongs to the search, and each loop needs an operand that says its
// size.
void FirstOutOfBounds::closeLoops() {
  for (auto [loop, size] : llvm::enumerate(generic.getStaticLoopRanges()))
    if (ShapedType::isDynamic(size))
      code.loops.set(loop);
  auto saysSize = [&](OpOperand &operand, unsigned loop) {
    return axisOfLoop(generic, &operand, loop).has_value();
  };
  for (unsigned before = 0; before != code.loops.count();) {
    before = code.loops.count();
    for (unsigned loop : code.loops.set_bits()) {
      if (llvm::any_of(generic->getOpOperands(), [&](OpOperand &operand) {
            return saysSize(operand, loop) && usesKeptLoopsOnly(operand);
          }))
        continue;
      for (OpOperand &operand : generic->getOpOperands())
        if (saysSize(operand, loop)) {
          addLoopsOfOperand(operand);
          break;
        }
    }
  }
  llvm::append_range(kept, code.loops.set_bits());
  for (OpOperand &operand : generic->getOpOperands())
    if (usesKeptLoopsOnly(operand))
      operands.push_back(&operand);
}

//===- The kernel -===//

void FirstOutOfBounds::cloneProducers(OpBuilder &builder, KernelOp kernel, Block &body) {
  mapping.map(kernel.getBody().getArguments(), body.getArguments());
  for (Operation &op : kernel.getBody().front()) {
    if (&op == generic)
      break;
    builder.clone(op, mapping);
  }
}

Value FirstOutOfBounds::sizeOf(OpBuilder &builder, Value tensor, int64_t axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return arith::ConstantIndexOp::create(builder, loc, type.getDimSize(axis));
  Value number = arith::ConstantIndexOp::create(builder, loc, axis);
  return tensor::DimOp::create(builder, loc, mapping.lookup(tensor), number);
}

Value FirstOutOfBounds::extentOf(OpBuilder &builder, unsigned loop) {
  int64_t size = generic.getStaticLoopRanges()[loop];
  if (!ShapedType::isDynamic(size))
    return arith::ConstantIndexOp::create(builder, loc, size);
  TensorAxis found = *axisOfLoop(generic, operands, loop); // closeLoops has kept an operand for each loop
  return sizeOf(builder, found.tensor, found.axis);
}

Value FirstOutOfBounds::isOutside(OpBuilder &builder, ValueRange found) {
  Value any = arith::ConstantIntOp::create(builder, loc, 0, 1);
  for (auto [index, size] : llvm::zip_equal(found, sizes)) {
    // Negative indices are the largest unsigned numbers.
    Value outside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, index, size);
    any = arith::OrIOp::create(builder, loc, any, outside);
  }
  return any;
}

// The element of the operand that an iteration of the kept loops reads.
Value FirstOutOfBounds::elementAt(OpBuilder &builder, OpOperand &operand, ArrayRef<Value> loops) {
  Value value = mapping.lookupOrDefault(operand.get());
  if (!isa<RankedTensorType>(value.getType()))
    return value;
  SmallVector<Value> position;
  for (AffineExpr index : generic.getMatchingIndexingMap(&operand).getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(index);
    position.push_back(
        loop ? loops[llvm::find(kept, loop.getPosition()) - kept.begin()]
             : arith::ConstantIndexOp::create(builder, loc, cast<AffineConstantExpr>(index).getValue())
                   .getResult());
  }
  return tensor::ExtractOp::create(builder, loc, value, position);
}

// Several loops are one, whose iterations a block of a GPU divides, unless an operand is read at other sums
// of them.
bool FirstOutOfBounds::mergesLoops() {
  return kept.size() > 1 && llvm::all_of(operands, [&](OpOperand *operand) {
           return llvm::all_of(generic.getMatchingIndexingMap(operand).getResults(),
                               llvm::IsaPred<AffineDimExpr, AffineConstantExpr>);
         });
}

// The operands of the reduction: tensors that give the sizes of its loops, and perhaps its elements.
void FirstOutOfBounds::addInputs(OpBuilder &builder, SmallVectorImpl<Value> &inputs,
                                 SmallVectorImpl<AffineMap> &maps) {
  if (mergesLoops()) {
    Value count = arith::ConstantIndexOp::create(builder, loc, 1);
    for (Value extent : extents)
      count = builder.createOrFold<arith::MulIOp>(loc, count, extent);
    inputs.push_back(
        tensor::EmptyOp::create(builder, loc, getAsOpFoldResult(count), builder.getI1Type()).getResult());
    maps.push_back(builder.getMultiDimIdentityMap(1));
    return;
  }
  SmallVector<AffineExpr> renumbered(generic.getNumLoops(), builder.getAffineConstantExpr(0));
  for (auto [number, loop] : llvm::enumerate(kept))
    renumbered[loop] = builder.getAffineDimExpr(number);
  for (OpOperand *operand : operands) {
    inputs.push_back(mapping.lookupOrDefault(operand->get()));
    maps.push_back(
        generic.getMatchingIndexingMap(operand).replaceDimsAndSymbols(renumbered, {}, kept.size(), 0));
  }
}

// A reduction of numbers of 64 bits over the kept loops.
Value FirstOutOfBounds::reduce(OpBuilder &builder, int64_t start, ValueRange more, Combine combine) {
  auto type = RankedTensorType::get({}, builder.getI64Type());
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  addInputs(builder, inputs, maps);
  unsigned loops = mergesLoops() ? 1 : kept.size();
  llvm::append_range(inputs, more);
  maps.resize(inputs.size() + 1, AffineMap::get(loops, 0, builder.getContext()));
  Value number = arith::ConstantIntOp::create(builder, loc, start, 64);
  Value empty = tensor::EmptyOp::create(builder, loc, type, ValueRange());
  Value outs = linalg::FillOp::create(builder, loc, number, empty).getResult(0);
  SmallVector<utils::IteratorType> iterators(loops, utils::IteratorType::reduction);
  auto body = [&](OpBuilder &nested, Location, ValueRange arguments) {
    IRMapping scalars(mapping);
    SmallVector<Value> at;
    for (unsigned loop = 0; loop < loops; ++loop)
      at.push_back(linalg::IndexOp::create(nested, loc, loop));
    Value linear = at.empty() ? arith::ConstantIndexOp::create(nested, loc, 0).getResult() : at.front();
    if (mergesLoops()) {
      at = delinearize(nested, loc, linear, extents);
    } else {
      for (size_t loop = 1; loop < at.size(); ++loop)
        linear = arith::AddIOp::create(nested, loc, arith::MulIOp::create(nested, loc, linear, extents[loop]),
                                       at[loop]);
    }
    for (auto [place, operand] : llvm::enumerate(operands))
      scalars.map(generic.getMatchingBlockArgument(operand),
                  mergesLoops() ? elementAt(nested, *operand, at) : arguments[place]);
    for (Operation *op : code.ops) {
      if (auto index = dyn_cast<linalg::IndexOp>(op))
        scalars.map(index.getResult(), at[llvm::find(kept, index.getDim()) - kept.begin()]);
      else
        nested.clone(*op, scalars);
    }
    linear = arith::IndexCastOp::create(nested, loc, nested.getI64Type(), linear);
    auto found = llvm::map_to_vector(indices, [&](Value index) { return scalars.lookupOrDefault(index); });
    ValueRange given = arguments.drop_front(inputs.size() - more.size()).drop_back();
    linalg::YieldOp::create(nested, loc, combine(nested, linear, found, given, arguments.back()));
  };
  return linalg::GenericOp::create(builder, loc, TypeRange{type}, inputs, outs, maps, iterators, body)
      .getResult(0);
}

// The number of the first iteration that leaves the tensor.
SmallVector<Value> FirstOutOfBounds::findFirst(OpBuilder &builder) {
  return {reduce(builder, kNoIteration, {},
                 [&](OpBuilder &nested, Value iteration, ValueRange found, ValueRange, Value least) -> Value {
                   Value none = arith::ConstantIntOp::create(nested, loc, kNoIteration, 64);
                   Value each =
                       arith::SelectOp::create(nested, loc, isOutside(nested, found), iteration, none);
                   return arith::MinSIOp::create(nested, loc, least, each);
                 })};
}

// The indices of the iteration with that number.
SmallVector<Value> FirstOutOfBounds::readIndices(OpBuilder &builder, Value first) {
  SmallVector<Value> results;
  for (size_t axis = 0; axis < indices.size(); ++axis)
    results.push_back(reduce(
        builder, 0, first,
        [&](OpBuilder &nested, Value iteration, ValueRange found, ValueRange number, Value sum) -> Value {
          Value zero = arith::ConstantIntOp::create(nested, loc, 0, 64);
          Value index = arith::IndexCastOp::create(nested, loc, nested.getI64Type(), found[axis]);
          Value isFirst =
              arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::eq, iteration, number.front());
          return arith::AddIOp::create(nested, loc, sum,
                                       arith::SelectOp::create(nested, loc, isFirst, index, zero));
        }));
  return results;
}

FusionOp FirstOutOfBounds::write(OpBuilder &host, LaunchOp launch, KernelOp kernel, Value first) {
  findCode();
  if (code.readsAccumulator)
    return {};
  closeLoops();
  auto number = RankedTensorType::get({}, host.getI64Type());
  bool isRow = kept.size() == 1 || mergesLoops();
  SmallVector<Value> inputs(launch.getInputs());
  if (first)
    inputs.push_back(first);
  auto fusion = FusionOp::create(
      host, loc, SmallVector<Type>(first ? indices.size() : 1, number), FusionKind::reduce, inputs,
      host.getStringAttr(isRow ? kRowClass : kGenericClass), kernel.getOrderAttr(), kernel.getAllowAttr());
  Block &body = fusion.getBody().emplaceBlock();
  for (Value input : inputs)
    body.addArgument(input.getType(), loc);
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  cloneProducers(builder, kernel, body);
  for (unsigned axis : axes)
    sizes.push_back(sizeOf(builder, extract.getTensor(), axis));
  for (unsigned loop : kept)
    extents.push_back(extentOf(builder, loop));
  SmallVector<Value> results = first ? readIndices(builder, body.getArguments().back()) : findFirst(builder);
  YieldOp::create(builder, loc, results);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  // A tensor that the indices do not depend on need not be there yet: a scatter may start from it.
  for (int64_t input = int64_t(body.getNumArguments()) - 1; input >= 0; --input)
    if (body.getArgument(input).use_empty()) {
      body.eraseArgument(input);
      fusion.getInputsMutable().erase(input);
    }
  // Sums that the indices depend on keep their order.
  auto sums = [](linalg::GenericOp op) { return op.getNumReductionLoops() > 0; };
  if (llvm::count_if(body.getOps<linalg::GenericOp>(), sums) > static_cast<int64_t>(results.size()))
    return fusion;
  // Integers have the same sum in any order: in lanes, the threads of a block have one row.
  fusion.setOrderAttr(isRow ? OrderAttr::canonicalLanes(builder.getContext())
                            : OrderAttr::canonicalBlocks(builder.getContext()));
  return fusion;
}

FusionOp ad::findFirstOutOfBounds(OpBuilder &host, LaunchOp launch, KernelOp kernel,
                                  linalg::GenericOp generic, tensor::ExtractOp extract,
                                  ArrayRef<unsigned> axes) {
  return FirstOutOfBounds(generic, extract, axes).write(host, launch, kernel, /*first=*/{});
}

FusionOp ad::readIndicesOutOfBounds(OpBuilder &host, LaunchOp launch, KernelOp kernel,
                                    linalg::GenericOp generic, tensor::ExtractOp extract,
                                    ArrayRef<unsigned> axes, Value first) {
  return FirstOutOfBounds(generic, extract, axes).write(host, launch, kernel, first);
}
