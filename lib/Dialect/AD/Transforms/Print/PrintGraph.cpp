// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The graph form: each result and effect with the tree of the operations that it is computed from.

#include "Nodes.h"
#include "OperationTexts.h"
#include "Texts.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-print-graph"

namespace mlir::ad {
#define GEN_PASS_DEF_PRINTGRAPHPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::print;

namespace {
class GraphPrinter {
public:
  GraphPrinter(func::FuncOp function, bool recorded, raw_ostream &os)
      : function(function), nodes(function), recorded(recorded), os(os) {}

  void print() {
    LDBG() << "prints @" << function.getSymName() << (recorded ? " as recorded" : " in the dialect");
    int64_t root = 0;
    for (BlockArgument argument : function.getArguments())
      if (isTensor(argument))
        startRoot(root, 0) << tensorText(argument) << '\n';
    printBlock(function.getBody().front(), root, 0);
  }

private:
  raw_ostream &startRoot(int64_t &root, unsigned indent) { return os.indent(2 * indent) << root++ << ": "; }

  std::string tensorText(Value argument) {
    if (recorded)
      return "Tensor(id: " + nodes.id(argument) + ", orig_shape: " + shapeOf(argument) + ")";
    return id(argument) + " = argument : " + typeOf(argument);
  }

  // The number of a node, in the dialect's form as a value is written.
  template <typename Node> std::string id(Node node) const { return (recorded ? "" : "%") + nodes.id(node); }

  std::string describe(Operation *op, bool inPlace = false) const {
    return recorded ? print::describe(op, inPlace) : describeInDialect(op, inPlace);
  }

  static std::string typeOf(Value value) {
    std::string text;
    llvm::raw_string_ostream(text) << value.getType();
    return text;
  }

  void printBlock(Block &block, int64_t &root, unsigned indent) {
    for (Operation &op : block.without_terminator()) {
      if (op.getNumRegions() > 0 && !isa<FusionOp>(op))
        printStructured(&op, root, indent);
      else if (op.getNumResults() == 0 && llvm::any_of(op.getOperands(), isTensor))
        printTree(&op, root, indent);
    }
    printTerminator(block.getTerminator(), root, indent);
  }

  // Loops and branches: first what they start with, then their blocks.
  void printStructured(Operation *op, int64_t &root, unsigned indent) {
    for (Value operand : op->getOperands()) {
      Value start = nodes.resolve(operand);
      if (isTensor(operand) && start.getDefiningOp() && !seen.contains(keyOf(start)))
        printTree(start, root, indent);
    }
    seen.insert(op);
    startRoot(root, indent) << lineOf(op, /*inPlace=*/false) << '\n';
    int64_t inner = 0;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        printBlock(block, inner, indent + 1);
  }

  void printTerminator(Operation *terminator, int64_t &root, unsigned indent) {
    if (isa<func::ReturnOp>(terminator)) {
      if (terminator->getNumOperands() > 0) {
        startRoot(root, indent) << (recorded ? "Return\n" : "return\n");
        printChildren(terminator, indent + 1);
      }
      return;
    }
    for (OpOperand &operand : terminator->getOpOperands())
      if (isTensor(operand.get()) && !isUpdatedInside(operand))
        printTree(operand.get(), root, indent, destinationOf(operand));
  }

  // An update in place that an inner loop has shown already.
  bool isUpdatedInside(OpOperand &operand) {
    return operand.get().getDefiningOp<scf::ForOp>() && destinationOf(operand).empty();
  }

  // Where a block's value goes; nothing for a tensor that is updated in place.
  std::string destinationOf(OpOperand &operand) {
    Operation *parent = operand.getOwner()->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return " to " + id(parent);
    BlockArgument carry = loop.getRegionIterArg(operand.getOperandNumber());
    return isUpdatedInPlace(carry) ? "" : " to " + id(carry);
  }

  using Node = PointerUnion<Operation *, Value>;
  static const void *keyOf(Value value) {
    Operation *op = value.getDefiningOp();
    return op ? static_cast<const void *>(op) : value.getAsOpaquePointer();
  }

  template <typename Start>
  void printTree(Start start, int64_t &root, unsigned indent, StringRef suffix = "") {
    startRoot(root, indent);
    printLine(start, suffix);
    drain(indent + 1);
  }

  void printChildren(Operation *op, unsigned indent) {
    pushOperands(op);
    drain(indent);
  }

  // Iterative, since trees may be deeper than a stack.
  void drain(unsigned indent) {
    while (!pending.empty()) {
      auto [value, depth] = pending.pop_back_val();
      os.indent(2 * (indent + depth));
      currentDepth = depth + 1;
      printLine(value, "");
    }
    currentDepth = 0;
  }

  void pushOperands(Operation *op) {
    for (Value operand : llvm::reverse(op->getOperands()))
      if (isTensor(operand))
        pending.emplace_back(operand, currentDepth);
  }

  // An operation without a result has a number in the recorded form only.
  std::string lineOf(Operation *op, bool inPlace) const {
    std::string name = !recorded && op->getNumResults() == 0 ? "" : id(op) + " = ";
    return name + describe(op, inPlace);
  }

  void printLine(Operation *op, StringRef suffix) {
    os << lineOf(op, /*inPlace=*/false) << suffix << '\n';
    pushOperands(op);
  }

  void printLine(Value value, StringRef suffix) {
    value = nodes.resolve(value);
    if (!seen.insert(keyOf(value)).second) {
      os << id(value) << (recorded ? " = Intermediate" : ", see above") << suffix << '\n';
      return;
    }
    if (Operation *op = value.getDefiningOp()) {
      os << id(value) << " = " << describe(op, /*inPlace=*/!!nodes.updatedCarry(op)) << suffix << '\n';
      return pushOperands(op);
    }
    auto argument = cast<BlockArgument>(value);
    if (argument.getOwner()->getParentOp() == function)
      os << tensorText(argument) << suffix << '\n';
    else
      os << id(argument) << " = " << carryText(argument) << suffix << '\n';
  }

  std::string carryText(BlockArgument argument) {
    std::string from;
    if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
      from = " from " + id(nodes.resolve(loop.getTiedLoopInit(argument)->get()));
    if (recorded)
      return "Carry" + from + " (dim: " + shapeOf(argument) + ")";
    return "carried" + from + " : " + typeOf(argument);
  }

  func::FuncOp function;
  Nodes nodes;
  bool recorded;
  raw_ostream &os;
  llvm::DenseSet<const void *> seen;
  SmallVector<std::pair<Value, unsigned>> pending;
  unsigned currentDepth = 0;
};

struct PrintGraphPass : ad::impl::PrintGraphPassBase<PrintGraphPass> {
  using PrintGraphPassBase::PrintGraphPassBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    bool recorded = form == "recorded";
    if (!recorded && form != "dialect") {
      emitError(getOperation().getLoc(), "unknown form '")
          << form << "' of ad-print-graph, expected dialect or recorded";
      return signalPassFailure();
    }
    if (failed(
            printFunctions(getOperation(), getArgument(), file, [&](func::FuncOp function, raw_ostream &os) {
              GraphPrinter(function, recorded, os).print();
            })))
      signalPassFailure();
  }
};
} // namespace
