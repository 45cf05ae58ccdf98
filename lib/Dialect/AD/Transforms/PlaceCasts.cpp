// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Casts of contraction operands move to the operations that compute the operands, with which they fuse:
// before views, out of loops, and into the carries of loops.

#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Interfaces/FusableOpInterface.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-place-casts"

namespace mlir::ad {
#define GEN_PASS_DEF_PLACECASTSPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

// A cast of `value` like another cast.
static CastOp castLike(OpBuilder &builder, CastOp like, Value value) {
  auto type = cast<RankedTensorType>(value.getType()).clone(getElementTypeOrSelf(like.getResult()));
  return CastOp::create(builder, like.getLoc(), type, value, like.getAllowAttr());
}

static bool narrows(CastOp cast) {
  Type from = getElementTypeOrSelf(cast.getInput()), to = getElementTypeOrSelf(cast.getResult());
  return isa<FloatType>(from) && isa<FloatType>(to) &&
         to.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth();
}

// Elementwise and row kernels cast while they load; only for contractions the cast is a kernel of its own.
static bool feedsContraction(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    auto fusable = dyn_cast<FusableOpInterface>(user);
    if (!fusable)
      return false;
    return fusable.getFusionKind() == FusionKind::dot ||
           ((fusable.isFreeView() || viewKindOf(user) == ViewKind::reshape) &&
            feedsContraction(user->getResult(0)));
  });
}

// Between reshapes no kernel computes what the cast could be a part of.
static bool feedsReshapesOnly(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUsers(), [](Operation *user) {
    return viewKindOf(user) == ViewKind::reshape;
  });
}

static bool isCostly(CastOp cast) {
  return narrows(cast) && (feedsContraction(cast.getResult()) || feedsReshapesOnly(cast.getResult()));
}

// A cast to a wider type that follows a contraction is part of its kernel. After a view, only one elementwise
// operation can have it in its kernel.
static bool isBetterBeforeView(CastOp cast) {
  Operation *view = cast.getInput().getDefiningOp();
  if (narrows(cast) || !isa<FloatType>(getElementTypeOrSelf(cast.getInput())) || !view)
    return false;
  ViewKind kind = viewKindOf(view);
  bool isInElementwiseKernel = cast->hasOneUse() && isElementwiseOp(*cast->user_begin());
  bool moves = kind == ViewKind::transpose || isa<ConcatOp>(view);
  return (kind == ViewKind::reshape || (moves && view->hasOneUse())) && !isInElementwiseKernel;
}

// The tensor that the value is a view of, through views of the given kinds.
static Value rootOf(Value value, llvm::function_ref<bool(Operation *)> mayPass) {
  while (Operation *view = value.getDefiningOp()) {
    if (viewKindOf(view) == ViewKind::none || !mayPass(view))
      break;
    value = view->getOperand(0);
  }
  return value;
}

// A loop around the cast carries the value, or the value is defined outside of the innermost one.
static bool isCarriedOrInvariant(Value value, CastOp op) {
  auto loop = op->getParentOfType<scf::ForOp>();
  if (!loop)
    return false;
  auto argument = dyn_cast<BlockArgument>(value);
  bool isCarry = argument && llvm::is_contained(loop.getRegionIterArgs(), argument);
  return isCarry || loop.isDefinedOutsideOfLoop(value);
}

// The value of which the operand is a part at offsets that are known when compiling, or all.
static Value wholeOf(CastOp op) {
  return rootOf(op.getInput(), [](Operation *view) { return viewKindOf(view) != ViewKind::dynamicSlice; });
}

static bool isFullView(Operation *view) {
  ViewKind kind = viewKindOf(view);
  // A reshape is another name for the same memory.
  return kind == ViewKind::reshape || ((kind == ViewKind::transpose || kind == ViewKind::broadcast) &&
                                       (view->hasOneUse() || cast<FusableOpInterface>(view).isFreeView()));
}

namespace {
// Moves casts before views and concatenations.
class CastsBeforeViews {
public:
  void run(Operation *root) {
    root->walk([&](CastOp cast) {
      if (!isCostly(cast) && !isBetterBeforeView(cast))
        return;
      pending.push_back(cast);
      if (auto type = cast.getType(); type.hasStaticShape())
        castElements[{wholeOf(cast), type.getElementType()}] += type.getNumElements();
    });
    while (!pending.empty()) {
      CastOp cast = pending.pop_back_val();
      if (Value value = whatToCast(cast); value != cast.getInput())
        cast = move(cast, value);
      if (auto concat = cast.getInput().getDefiningOp<ConcatOp>(); concat && concat->hasOneUse())
        moveBefore(concat, cast);
    }
  }

private:
  // Which value to cast instead of a view of it. Of a value that the body computes, or of which most elements
  // are not cast, a slice stays: all of the value would have to be cast.
  Value whatToCast(CastOp op) const {
    Value whole = wholeOf(op);
    auto type = cast<RankedTensorType>(whole.getType());
    int64_t elements = castElements.lookup({whole, op.getType().getElementType()});
    if (narrows(op) && isCarriedOrInvariant(whole, op) && type.hasStaticShape() &&
        2 * elements >= type.getNumElements())
      return whole;
    return rootOf(op.getInput(), isFullView);
  }

  // The kernels that compute the parts write them narrow.
  void moveBefore(ConcatOp concat, CastOp cast) {
    OpBuilder builder(cast);
    SmallVector<Value> parts;
    for (Value input : concat.getInputs()) {
      pending.push_back(castLike(builder, cast, input));
      parts.push_back(pending.back());
    }
    Operation *narrow = builder.clone(*concat);
    narrow->setOperands(parts);
    narrow->getResult(0).setType(cast.getType());
    cast.getResult().replaceAllUsesWith(narrow->getResult(0));
    casts.erase({concat.getResult(), cast.getType().getElementType()});
    cast->erase();
    concat->erase();
  }

  CastOp move(CastOp cast, Value value) {
    LDBG() << "moved before views: " << cast;
    SmallVector<Operation *> views;
    for (Value view = cast.getInput(); view != value; view = view.getDefiningOp()->getOperand(0))
      views.push_back(view.getDefiningOp());
    Type element = getElementTypeOrSelf(cast.getResult());
    CastOp moved = castOf(value, cast);
    Value narrow = moved;
    OpBuilder builder(cast);
    for (Operation *view : llvm::reverse(views)) {
      Operation *copy = builder.clone(*view);
      copy->setOperand(0, narrow);
      Value result = copy->getResult(0);
      result.setType(::cast<RankedTensorType>(result.getType()).clone(element));
      narrow = result;
    }
    cast.getResult().replaceAllUsesWith(narrow);
    cast->erase();
    for (Operation *view : views)
      if (view->use_empty())
        view->erase();
    return moved;
  }

  // Right after the definition of the value; one for all its users.
  CastOp castOf(Value value, CastOp like) {
    CastOp &known = casts[{value, like.getType().getElementType()}];
    if (known)
      return known;
    OpBuilder builder(like.getContext());
    builder.setInsertionPointAfterValue(value);
    return known = castLike(builder, like, value);
  }

  SmallVector<CastOp> pending;
  /// How many elements the casts of a value, and of parts of it, convert.
  llvm::DenseMap<std::pair<Value, Type>, int64_t> castElements;
  llvm::DenseMap<std::pair<Value, Type>, CastOp> casts;
};

struct PlaceCastsPass : ad::impl::PlaceCastsPassBase<PlaceCastsPass> {
  using PlaceCastsPassBase::PlaceCastsPassBase;

  void runOnOperation() override {
    CastsBeforeViews().run(getOperation());
    // Loops inside come first: a cast that leaves one may be that of a carry of the next.
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      hoistInvariant(loop);
      carry(loop);
    }
    getOperation()->walk([](CastOp cast) {
      if (Value copy = carriedCopy(cast)) {
        LDBG() << "carried by the loop before: " << cast;
        cast.getResult().replaceAllUsesWith(copy);
        cast->erase();
      }
    });
  }

  static bool isCastLike(Value value, CastOp like, Value input) {
    auto cast = value.getDefiningOp<CastOp>();
    return cast && cast.getInput() == input && cast.getType() == like.getType();
  }

  // The result of a loop that is this cast of another result: it is that before the first iteration and after
  // each.
  static Value carriedCopy(CastOp cast) {
    auto result = dyn_cast<OpResult>(cast.getInput());
    auto loop = result ? dyn_cast<scf::ForOp>(result.getOwner()) : scf::ForOp();
    if (!loop)
      return {};
    unsigned number = result.getResultNumber();
    for (OpResult other : loop.getResults())
      if (isCastLike(loop.getInits()[other.getResultNumber()], cast, loop.getInits()[number]) &&
          isCastLike(loop.getYieldedValues()[other.getResultNumber()], cast, loop.getYieldedValues()[number]))
        return other;
    return {};
  }

  // A cast of a value from outside is the same in every iteration.
  static void hoistInvariant(scf::ForOp loop) {
    SmallVector<CastOp> casts;
    loop.getBody()->walk([&](CastOp cast) {
      if (isCostly(cast) && loop.isDefinedOutsideOfLoop(cast.getInput()))
        casts.push_back(cast);
    });
    for (CastOp cast : casts) {
      LDBG() << "moved before the loop: " << cast;
      cast->moveBefore(loop);
    }
  }

  static void carry(scf::ForOp loop) {
    SmallVector<std::pair<unsigned, Type>> carried;
    SmallVector<SmallVector<CastOp>> replaced;
    for (auto [number, argument] : llvm::enumerate(loop.getRegionIterArgs()))
      for (Operation *user : argument.getUsers())
        if (auto cast = dyn_cast<CastOp>(user); cast && isCostly(cast)) {
          std::pair<unsigned, Type> key(number, getElementTypeOrSelf(cast.getResult()));
          auto *known = llvm::find(carried, key);
          if (known == carried.end()) {
            carried.push_back(key);
            replaced.push_back({cast});
          } else {
            replaced[known - carried.begin()].push_back(cast);
          }
        }
    if (!carried.empty())
      replaceLoop(loop, carried, replaced);
  }

  static void replaceLoop(scf::ForOp loop, ArrayRef<std::pair<unsigned, Type>> carried,
                          ArrayRef<SmallVector<CastOp>> replaced) {
    IRRewriter rewriter(loop.getContext());
    rewriter.setInsertionPoint(loop);
    SmallVector<Value> inits;
    for (auto [carry, casts] : llvm::zip_equal(carried, replaced))
      inits.push_back(castLike(rewriter, casts.front(), loop.getInitArgs()[carry.first]));
    auto yieldCasts = [&](OpBuilder &builder, Location, ArrayRef<BlockArgument>) {
      SmallVector<Value> values;
      Operation *yield = builder.getInsertionBlock()->getTerminator();
      for (auto [carry, casts] : llvm::zip_equal(carried, replaced))
        values.push_back(castLike(builder, casts.front(), yield->getOperand(carry.first)));
      return values;
    };
    FailureOr<LoopLikeOpInterface> wider = cast<LoopLikeOpInterface>(*loop).replaceWithAdditionalYields(
        rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, yieldCasts);
    auto arguments = cast<scf::ForOp>(**wider).getRegionIterArgs().take_back(carried.size());
    for (auto [argument, casts] : llvm::zip_equal(arguments, replaced))
      for (CastOp cast : casts) {
        LDBG() << "carried by the loop: " << cast;
        rewriter.replaceOp(cast, argument);
      }
  }
};
} // namespace
