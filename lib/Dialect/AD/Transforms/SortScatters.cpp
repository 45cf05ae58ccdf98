// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Scatters with many updates, for GPUs: the updates are sorted by the element that they update, and each
// element takes its own, a run of them (UpdateRuns in OrderedWrite.h, decision 0074).

#include "adjoint/Dialect/AD/IR/ADIndexingOps.h"
#include "adjoint/Dialect/AD/IR/ADSortingOps.h"
#include "adjoint/Dialect/AD/IR/ScalarCode.h"
#include "adjoint/Dialect/AD/Transforms/KernelClass.h"
#include "adjoint/Dialect/AD/Transforms/LoopNestCode.h"
#include "adjoint/Dialect/AD/Transforms/NumericsPattern.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Dialect/AD/Transforms/PatternLog.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "adjoint/Support/NumericOption.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

#define DEBUG_TYPE "ad-sort-scatters"

namespace mlir::ad {
#define GEN_PASS_DEF_SORTSCATTERSPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

// Groups of threads look at an update in the time in which an H200 writes so many elements.
static constexpr int64_t kElementsPerUpdate = 512;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

// The product of sizes; kDynamic if one of them is, or the largest number if the product is larger.
static int64_t productOf(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  bool isTooLarge = false;
  for (int64_t size : sizes) {
    if (ShapedType::isDynamic(size))
      return size;
    isTooLarge |= llvm::MulOverflow(product, size, product);
  }
  return isTooLarge ? std::numeric_limits<int64_t>::max() : product;
}

// How many elements the indices choose from.
static int64_t keyCount(ScatterOp op) {
  return productOf(
      llvm::map_to_vector(op.getAxes(), [&](int64_t axis) { return op.getType().getDimSize(axis); }));
}

// Floats of 16 and 8 bits are converted where they are read, which is exact.
static Value withoutCast(Value update) {
  auto cast = update.getDefiningOp<CastOp>();
  auto from = cast ? dyn_cast<FloatType>(getElementTypeOrSelf(cast.getInput())) : FloatType();
  return from && computeType(from) == getElementTypeOrSelf(update) && computeType(from) != from
             ? cast.getInput()
             : update;
}

static Type positionType(OpBuilder &builder, int64_t last) {
  bool isShort = !ShapedType::isDynamic(last) && last <= std::numeric_limits<int32_t>::max();
  return isShort ? builder.getI32Type() : builder.getI64Type();
}

// A tensor that the scatter writes whole, since it is in no memory yet.
static bool isMadeHere(Value input) {
  Operation *op = input.getDefiningOp();
  while (auto cast = dyn_cast_or_null<CastOp>(op))
    op = cast.getInput().getDefiningOp();
  return op && (op->hasTrait<OpTrait::ConstantLike>() || viewKindOf(op) == ViewKind::broadcast);
}

namespace {
/// The code of one linalg.generic or of its kernel.
struct Code {
  OpBuilder &builder;
  Location loc;

  Value number(int64_t value) const { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value add(Value lhs, Value rhs) const { return builder.createOrFold<arith::AddIOp>(loc, lhs, rhs); }
  Value subtract(Value lhs, Value rhs) const { return builder.createOrFold<arith::SubIOp>(loc, lhs, rhs); }
  Value multiply(Value lhs, Value rhs) const { return builder.createOrFold<arith::MulIOp>(loc, lhs, rhs); }
  Value both(Value lhs, Value rhs) const { return builder.createOrFold<arith::AndIOp>(loc, lhs, rhs); }
  Value least(Value lhs, Value rhs) const { return builder.createOrFold<arith::MinSIOp>(loc, lhs, rhs); }
  /// The index, or the nearest one of an axis of that size.
  Value clamp(Value index, Value size) const {
    index = least(index, subtract(size, number(1)));
    return builder.createOrFold<arith::MaxSIOp>(loc, index, number(0));
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) const {
    return builder.createOrFold<arith::CmpIOp>(loc, predicate, lhs, rhs);
  }
  Value select(Value condition, Value onTrue, Value onFalse) const {
    return arith::SelectOp::create(builder, loc, condition, onTrue, onFalse);
  }
  /// Between integers and indices.
  Value convert(Value value, Type type) const {
    return builder.createOrFold<arith::IndexCastOp>(loc, type, value);
  }
  Value index(Value integer) const { return convert(integer, builder.getIndexType()); }
  Value at(Value tensor, ValueRange position) const {
    return tensor::ExtractOp::create(builder, loc, tensor, position);
  }
  Value loop(int64_t number) const { return linalg::IndexOp::create(builder, loc, number); }

  Value product(ArrayRef<Value> sizes) const {
    Value all = number(1);
    for (Value size : sizes)
      all = multiply(all, size);
    return all;
  }
};

class SortedUpdates {
public:
  SortedUpdates(PatternRewriter &rewriter, ScatterOp op)
      : rewriter(rewriter), loc(op.getLoc()), op(op), access(op.getIndexedAccess()),
        update(withoutCast(op.getUpdate())), updates(productOf(typeOf(op.getIndices().front()).getShape())),
        keyType(positionType(rewriter, keyCount(op))), placeType(positionType(rewriter, updates)) {}

  Value build() {
    Value keys = numbersOfElements();
    Value places =
        ArgsortOp::create(rewriter, loc, keys, /*axis=*/0, /*descending=*/false, PermissionsAttr());
    Value begins = beginsOfRuns(inOrder(keys, places));
    return combine(begins, places);
  }

private:
  using Body = function_ref<Value(const Code &, ValueRange scalars)>;

  /// A kernel with the operands that its code uses.
  Value kernel(FusionKind kind, StringRef className, RankedTensorType type, ValueRange operands,
               function_ref<Value(const Code &, ValueRange)> write) {
    auto fusion = FusionOp::create(rewriter, loc, TypeRange(type), kind, operands,
                                   rewriter.getStringAttr(className), OrderAttr(), op.getAllowAttr());
    OpBuilder::InsertionGuard guard(rewriter);
    Block *body = rewriter.createBlock(&fusion.getBody(), {}, operands.getTypes(),
                                       SmallVector<Location>(operands.size(), loc));
    YieldOp::create(rewriter, loc, write(Code{rewriter, loc}, body->getArguments()));
    for (int64_t number = int64_t(operands.size()) - 1; number >= 0; --number)
      if (body->getArgument(number).use_empty()) {
        body->eraseArgument(number);
        fusion.getInputsMutable().erase(number);
      }
    return fusion.getResult(0);
  }

  /// One element for each of `count` iterations.
  Value forEach(const Code &code, Type element, Value count, ValueRange inputs, Body body) {
    Value out = tensor::EmptyOp::create(code.builder, loc, getAsOpFoldResult(count), element);
    SmallVector<AffineMap> maps(inputs.size() + 1, code.builder.getMultiDimIdentityMap(1));
    return linalg::GenericOp::create(code.builder, loc, out.getType(), inputs, out, maps,
                                     utils::IteratorType::parallel,
                                     [&](OpBuilder &nested, Location, ValueRange arguments) {
                                       Value made = body(Code{nested, loc}, arguments.drop_back());
                                       linalg::YieldOp::create(nested, loc, made);
                                     })
        .getResult(0);
  }

  /// The sizes along the axes of the result that indices choose.
  SmallVector<Value> keySizes(const Code &code, Value input) {
    SmallVector<Value> all = sizesOfTensor(code.builder, loc, input);
    return llvm::map_to_vector(access.axes, [&](int64_t axis) { return all[axis]; });
  }

  static Value linearize(const Code &code, ValueRange indices, ArrayRef<Value> sizes) {
    Value number = code.number(0);
    for (auto [index, size] : llvm::zip_equal(indices, sizes))
      number = code.add(code.multiply(number, size), index);
    return number;
  }

  /// Which element each update changes; the number after the last one if it changes none.
  Value numbersOfElements() {
    SmallVector<Value> operands(op.getIndices());
    operands.push_back(op.getInput());
    bool isList = access.indexRank == 1;
    auto write = [&](const Code &code, ValueRange arguments) {
      ValueRange indices = arguments.drop_back();
      SmallVector<Value> sizes = keySizes(code, arguments.back()),
                         shape = sizesOfTensor(code.builder, loc, indices.front());
      Value end = code.product(sizes);
      return forEach(code, keyType, code.product(shape), isList ? indices : ValueRange(),
                     [&](const Code &body, ValueRange scalars) {
                       SmallVector<Value> read(scalars);
                       if (!isList) {
                         SmallVector<Value> at = delinearize(body.builder, loc, body.loop(0), shape);
                         read = llvm::map_to_vector(indices, [&](Value each) { return body.at(each, at); });
                       }
                       return body.convert(numberOf(body, read, sizes, end), keyType);
                     });
    };
    return kernel(FusionKind::elementwise, kGenericClass, RankedTensorType::get(updates, keyType), operands,
                  write);
  }

  Value numberOf(const Code &code, ArrayRef<Value> integers, ArrayRef<Value> sizes, Value end) {
    SmallVector<Value> indices = llvm::map_to_vector(integers, [&](Value each) { return code.index(each); });
    Value isInside;
    for (auto [index, size] : llvm::zip_equal(indices, sizes)) {
      if (op.getOutside() == Outside::clamp) {
        index = code.clamp(index, size);
      } else {
        Value inside = code.compare(arith::CmpIPredicate::ult, index, size);
        isInside = isInside ? code.both(isInside, inside) : inside;
      }
    }
    Value number = linearize(code, indices, sizes);
    return isInside ? code.select(isInside, number, end) : number;
  }

  /// The keys at these places.
  Value inOrder(Value keys, Value places) {
    auto write = [&](const Code &code, ValueRange arguments) {
      Value count = sizesOfTensor(code.builder, loc, arguments[1]).front();
      return forEach(code, keyType, count, arguments[1], [&](const Code &body, ValueRange place) {
        return body.at(arguments[0], body.index(place.front()));
      });
    };
    return kernel(FusionKind::elementwise, kGenericClass, typeOf(keys), {keys, places}, write);
  }

  /// How many keys are less than each number, and than the one after the last: binary searches.
  Value beginsOfRuns(Value sorted) {
    int64_t keys = keyCount(op);
    auto type = RankedTensorType::get(ShapedType::isDynamic(keys) ? keys : keys + 1, placeType);
    auto write = [&](const Code &code, ValueRange arguments) {
      Value count = sizesOfTensor(code.builder, loc, arguments[0]).front();
      Value end = code.add(code.product(keySizes(code, arguments[1])), code.number(1));
      return forEach(code, placeType, end, {}, [&](const Code &body, ValueRange) {
        return body.convert(lowerBound(body, arguments[0], count, body.convert(body.loop(0), keyType)),
                            placeType);
      });
    };
    return kernel(FusionKind::elementwise, kGenericClass, type, {sorted, op.getInput()}, write);
  }

  /// Sorts have fewer than 2^31 elements.
  int searchSteps() const {
    return ShapedType::isDynamic(updates) ? 31 : llvm::bit_width(static_cast<uint64_t>(updates));
  }

  Value lowerBound(const Code &code, Value sorted, Value count, Value key) {
    Value found = code.number(0), last = code.subtract(count, code.number(1));
    for (int step = searchSteps() - 1; step >= 0; --step) {
      Value next = code.add(found, code.number(int64_t(1) << step));
      Value isThere = code.compare(arith::CmpIPredicate::ule, next, count);
      // The key itself is not less than the key.
      Value read = code.select(isThere, keyAt(code, sorted, code.subtract(next, code.number(1)), last), key);
      found = code.select(code.compare(arith::CmpIPredicate::slt, read, key), next, found);
    }
    return found;
  }

  /// The key, or the last one. An open number of them may be none.
  Value keyAt(const Code &code, Value sorted, Value place, Value last) {
    auto key = tensor::ExtractOp::create(code.builder, loc, sorted, code.least(place, last));
    if (ShapedType::isDynamic(updates))
      key->setAttr(kInsideOnlyAttr, code.builder.getUnitAttr());
    return key;
  }

  /// The elements before all updates: a value that is everywhere, or the input.
  Value startOf(const Code &code, Value input) {
    DenseElementsAttr constant;
    if (!op.getType().hasStaticShape() || !matchPattern(op.getInput(), m_Constant(&constant)) ||
        !constant.isSplat())
      return input;
    Value out =
        tensor::EmptyOp::create(code.builder, loc, op.getType().getShape(), constant.getElementType());
    Value value = arith::ConstantOp::create(code.builder, loc, constant.getSplatValue<TypedAttr>());
    return linalg::FillOp::create(code.builder, loc, value, out).getResult(0);
  }

  /// The result: each element with its run of updates.
  Value combine(Value begins, Value places) {
    auto write = [&](const Code &code, ValueRange arguments) {
      MLIRContext *context = code.builder.getContext();
      unsigned rank = access.rank;
      Value start = startOf(code, arguments[0]);
      SmallVector<Value> sizes = keySizes(code, arguments[0]),
                         all = sizesOfTensor(code.builder, loc, arguments[3]);
      SmallVector<Value> shape =
          llvm::map_to_vector(access.partAxesOfIndices(), [&](int64_t axis) { return all[axis]; });
      AffineMap loops = AffineMap::getMultiDimIdentityMap(rank + 1, context);
      SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
      iterators.push_back(utils::IteratorType::reduction);
      return linalg::GenericOp::create(
                 code.builder, loc, start.getType(), arguments[2], start,
                 {AffineMap::get(rank + 1, 0, code.builder.getAffineDimExpr(rank)),
                  loops.getMajorSubMap(rank)},
                 iterators,
                 [&](OpBuilder &nested, Location, ValueRange scalars) {
                   Code body{nested, loc};
                   Value isOwn = isInRun(body, arguments[1], sizes);
                   Value read = body.at(arguments[3], positionOfUpdate(body, body.index(scalars[0]), shape));
                   read = convertScalar(nested, loc, read, scalars[1].getType());
                   Value updated = op.emitUpdate(nested, loc, {scalars[1], read}, {});
                   linalg::YieldOp::create(nested, loc, body.select(isOwn, updated, scalars[1]));
                 })
          .getResult(0);
    };
    return kernel(FusionKind::nest, kScatterClass, op.getType(), {op.getInput(), begins, places, update},
                  write);
  }

  /// Whether the iteration is one of the element that is computed.
  Value isInRun(const Code &code, Value begins, ArrayRef<Value> sizes) {
    SmallVector<Value> indices =
        llvm::map_to_vector(access.axes, [&](int64_t axis) { return code.loop(axis); });
    Value number = linearize(code, indices, sizes);
    Value begin = code.index(code.at(begins, number));
    Value end = code.index(code.at(begins, code.add(number, code.number(1))));
    Value iteration = code.loop(access.rank);
    return code.both(code.compare(arith::CmpIPredicate::sge, iteration, begin),
                     code.compare(arith::CmpIPredicate::slt, iteration, end));
  }

  /// Where the update of this place is, for the element that is computed.
  SmallVector<Value> positionOfUpdate(const Code &code, Value place, ArrayRef<Value> shape) {
    SmallVector<Value> position(access.partRank());
    for (auto [axis, index] :
         llvm::zip_equal(access.partAxesOfIndices(), delinearize(code.builder, loc, place, shape)))
      position[axis] = index;
    for (auto [axis, from] : llvm::zip_equal(access.slices, access.slicedAxes()))
      position[axis] = code.loop(from);
    return position;
  }

  PatternRewriter &rewriter;
  Location loc;
  ScatterOp op;
  IndexedAccess access;
  Value update;    ///< without a cast from 16 or 8 bits
  int64_t updates; ///< how many, of an element or of a slice of them; ShapedType::kDynamic if not known
  Type keyType;    ///< of numbers of elements
  Type placeType;  ///< of places among the sorted updates
};

struct SortUpdates : NumericsPattern<ScatterOp> {
  SortUpdates(MLIRContext *context, int64_t fewest)
      : NumericsPattern(context, "sort-updates"), fewest(fewest) {}

  LogicalResult match(ScatterOp op, SmallVectorImpl<Operation *> &,
                      PatternRewriter &rewriter) const override {
    if (!op.getBatch().empty())
      return rewriter.notifyMatchFailure(op, "expected no batch axes, along which kernels are divided");
    if (op.getKind() != ScatterKind::set &&
        computeType(op.getType().getElementType()) != op.getType().getElementType())
      return rewriter.notifyMatchFailure(op, "expected elements that are combined in their own type");
    if (llvm::is_contained(op.getType().getShape(), 0))
      return rewriter.notifyMatchFailure(op, "expected elements");
    int64_t updates = productOf(typeOf(op.getIndices().front()).getShape());
    if (!ShapedType::isDynamic(updates) && updates < fewest)
      return rewriter.notifyMatchFailure(op, "expected more updates");
    if (!ShapedType::isDynamic(updates) && updates > std::numeric_limits<int32_t>::max())
      return rewriter.notifyMatchFailure(op, "expected fewer updates, as many as a sort has");
    // An open number is taken for the fewest.
    int64_t atLeast = ShapedType::isDynamic(updates) ? fewest : updates,
            elements = productOf(op.getType().getShape());
    if (!isMadeHere(op.getInput()) &&
        (ShapedType::isDynamic(elements) || elements / kElementsPerUpdate > atLeast))
      return rewriter.notifyMatchFailure(op, "expected updates of a large part of the elements");
    return success();
  }

  void rewrite(ScatterOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, SortedUpdates(rewriter, op).build());
  }

  int64_t fewest;
};

struct SortScattersPass : ad::impl::SortScattersPassBase<SortScattersPass> {
  using SortScattersPassBase::SortScattersPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    SortScattersPassBase::getDependentDialects(registry);
    NumericsLog::registerInto(registry);
  }

  void runOnOperation() override {
    if (failed(verifyAtLeast(getOperation(), "updates", 1, updates)))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateSortScattersPatterns(patterns, updates);
    PatternLog log(DEBUG_TYPE);
    walkAndApplyPatterns(getOperation(), std::move(patterns), &log);
  }
};
} // namespace

void ad::populateSortScattersPatterns(RewritePatternSet &patterns, int64_t updates) {
  patterns.add<SortUpdates>(patterns.getContext(), updates);
}
