// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// An ad-runner with a fault in its compiler, as another build may have one: the tests of `ad-diff bisect` and
// `ad-diff reduce` must find it. $ADJOINT_FAULT is one fault, in words:
//
//   after=PASS op=OPERATION [line=N] [in=FUNCTION] KIND
//
// After that pass, all operations of that name, or those at that line of the source and in functions whose
// names have FUNCTION in them, are
//
//   swap       with their first two operands exchanged
//   forward    replaced by their first operand
//   round      rounded to bf16
//   NAME       replaced by the operation NAME with the same operands
//   over=N     of ad.launch, in the plan: writes its first result into the buffer of the first launch at line
//              N, where there is one, of those whose first result has as many elements of the same type
//   into=N     the same, of those whose first result has another size
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Runner/Runner.h"
#include "adjoint/Runner/StandardHooks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::ad;

namespace {

struct Fault {
  std::string pass, operation, function, kind;
  unsigned line = 0, over = 0; // 0: any

  static Fault fromEnvironment() {
    Fault fault;
    const char *text = std::getenv("ADJOINT_FAULT");
    SmallVector<StringRef> words;
    llvm::SplitString(text ? text : "", words);
    for (StringRef word : words) {
      auto [name, value] = word.split('=');
      if (name == "after")
        fault.pass = value.str();
      else if (name == "op")
        fault.operation = value.str();
      else if (name == "in")
        fault.function = value.str();
      else if ((name == "over" || name == "into") && !value.getAsInteger(10, fault.over))
        fault.kind = name.str();
      else if (name != "line" || value.getAsInteger(10, fault.line))
        fault.kind = word.str();
    }
    return fault;
  }
};

unsigned lineOf(Location location) {
  unsigned line = 0;
  location->walk([&](Location part) {
    if (auto position = dyn_cast<FileLineColLoc>(part); position && line == 0)
      line = position.getLine();
    return WalkResult::advance();
  });
  return line;
}

bool haveSameSize(Type a, Type b) {
  auto first = cast<ShapedType>(a), second = cast<ShapedType>(b);
  return first.hasStaticShape() && second.hasStaticShape() &&
         first.getElementType() == second.getElementType() &&
         first.getNumElements() == second.getNumElements();
}

Value roundToBF16(OpBuilder &builder, Value value) {
  Location location = value.getLoc();
  Type type = value.getType();
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    // A pass writes the permissions of what it makes: here those of the operation that is rounded.
    auto allow = value.getDefiningOp()->getAttrOfType<PermissionsAttr>("allow");
    Value narrow = CastOp::create(builder, location, tensor.clone(builder.getBF16Type()), value, allow);
    return CastOp::create(builder, location, type, narrow, allow);
  }
  Type narrowType = builder.getBF16Type();
  if (auto shaped = dyn_cast<ShapedType>(type))
    narrowType = shaped.clone(narrowType);
  Value narrow = arith::TruncFOp::create(builder, location, narrowType, value);
  return arith::ExtFOp::create(builder, location, type, narrow);
}

/// It has no name, so what it does counts as done by the pass before it.
class PlantFaultPass : public PassWrapper<PlantFaultPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlantFaultPass)
  explicit PlantFaultPass(Fault fault) : fault(std::move(fault)) {}

  void runOnOperation() override {
    SmallVector<Operation *> found;
    getOperation().walk([&](Operation *op) {
      auto function = op->getParentOfType<FunctionOpInterface>();
      if (op->getName().getStringRef() == fault.operation &&
          (fault.line == 0 || lineOf(op->getLoc()) == fault.line) &&
          (fault.function.empty() || (function && function.getName().contains(fault.function))))
        found.push_back(op);
    });
    for (Operation *op : found)
      change(op);
  }

private:
  void writeOver(LaunchOp launch) {
    LaunchOp found;
    getOperation().walk([&](LaunchOp other) {
      if (other == launch || lineOf(other.getLoc()) != fault.over)
        return WalkResult::advance();
      bool sameSize = haveSameSize(other.getResult(0).getType(), launch.getResult(0).getType());
      bool fits = sameSize == (fault.kind == "over");
      if (!found || fits)
        found = other;
      return fits ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (found)
      launch.getDestinationsMutable().slice(0, 1).assign(found.getDestinations().front());
  }

  void change(Operation *op) {
    OpBuilder builder(op);
    if (fault.kind == "swap") {
      Value first = op->getOperand(0);
      op->setOperand(0, op->getOperand(1));
      op->setOperand(1, first);
    } else if (fault.kind == "forward") {
      op->replaceAllUsesWith(ValueRange(op->getOperand(0)));
      op->erase();
    } else if (fault.kind == "over" || fault.kind == "into") {
      writeOver(cast<LaunchOp>(op));
    } else if (fault.kind == "round") {
      builder.setInsertionPointAfter(op);
      Value rounded = roundToBF16(builder, op->getResult(0));
      op->getResult(0).replaceUsesWithIf(
          rounded, [&](OpOperand &use) { return !use.getOwner()->isBeforeInBlock(rounded.getDefiningOp()); });
    } else {
      OperationState state(op->getLoc(), StringRef(fault.kind), op->getOperands(), op->getResultTypes(),
                           op->getAttrs());
      Operation *other = builder.create(state);
      op->replaceAllUsesWith(other);
      op->erase();
    }
  }

  Fault fault;
};

/// Makes Pass::clone accessible.
struct PassCloner : Pass {
  using Pass::clone;
};

/// The passes of another pipeline, with the fault after each pass that has its name, also in a nested one.
void addWithFault(OpPassManager &pm, llvm::function_ref<void(OpPassManager &)> build) {
  Fault fault = Fault::fromEnvironment();
  OpPassManager right(pm.getOpAnchorName());
  build(right);
  for (Pass &pass : right) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    pass.printAsTextualPipeline(stream);
    pm.addPass((pass.*&PassCloner::clone)());
    if (!fault.pass.empty() && StringRef(text).contains(fault.pass))
      pm.addPass(std::make_unique<PlantFaultPass>(fault));
  }
}

using Builder = void (*)(OpPassManager &, const runner::PipelineOptions &);
template <Builder runner::Hooks::*pipeline>
void buildFaulty(OpPassManager &pm, const runner::PipelineOptions &options) {
  addWithFault(pm, [&](OpPassManager &right) { (runner::standardHooks().*pipeline)(right, options); });
}

} // namespace

int main(int argc, char **argv) {
  runner::Hooks hooks = runner::standardHooks();
  hooks.buildReferencePipeline = buildFaulty<&runner::Hooks::buildReferencePipeline>;
  hooks.buildOptimizePipeline = buildFaulty<&runner::Hooks::buildOptimizePipeline>;
  hooks.buildCpuPipeline = buildFaulty<&runner::Hooks::buildCpuPipeline>;
  hooks.buildGpuSimPipeline = buildFaulty<&runner::Hooks::buildGpuSimPipeline>;
  // The cache knows nothing of the fault.
  std::vector<char *> arguments(argv, argv + argc);
  std::string option = "--cache=off";
  arguments.push_back(option.data());
  return runner::runnerMain(argc + 1, arguments.data(), hooks);
}
