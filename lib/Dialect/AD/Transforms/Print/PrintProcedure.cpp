// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The procedure form: kernels in their order, with the element that each operand is read at.

#include "Access.h"
#include "OperationTexts.h"
#include "Texts.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-print-procedure"

namespace mlir::ad {
#define GEN_PASS_DEF_PRINTPROCEDUREPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::print;

namespace {
class ProcedurePrinter {
public:
  ProcedurePrinter(func::FuncOp function, raw_ostream &os) : function(function), nodes(function), os(os) {}

  void print() {
    LDBG() << "prints @" << function.getSymName();
    for (BlockArgument argument : function.getArguments())
      if (isTensor(argument))
        os << "Tensor(id: " << nodes.id(argument) << ", orig_shape: " << shapeOf(argument) << ")\n";
    printBlock(function.getBody().front(), 0);
  }

private:
  raw_ostream &line(unsigned indent) { return os.indent(4 * indent); }

  void printBlock(Block &block, unsigned indent) {
    for (Operation &op : block) {
      if (auto fusion = dyn_cast<FusionOp>(op))
        printFusion(fusion, indent);
      else if (op.getNumRegions() > 0)
        printStructured(&op, indent);
      else if (op.hasTrait<OpTrait::IsTerminator>())
        printTerminator(&op, indent);
      else
        printOperation(&op, indent);
    }
  }

  void printStructured(Operation *op, unsigned indent) {
    line(indent) << nodes.id(op) << " = " << describe(op) << '\n';
    for (Region &region : op->getRegions())
      for (Block &block : region)
        printBlock(block, indent + 1);
  }

  // Operations with a text of their own; constants and movement are parts of expressions.
  static bool computes(Operation &op) {
    return !isFolded(&op) && !literalOf(&op) && llvm::any_of(op.getResults(), isTensor);
  }

  static StringRef kindOf(FusionOp fusion) {
    switch (fusion.getKind()) {
    case FusionKind::dot:
      return "DPElwFuse";
    case FusionKind::reduce:
      return "ReduceElwFuse";
    case FusionKind::elementwise:
      return "ElwFuse";
    case FusionKind::movement:
      return "MovementFuse";
    case FusionKind::nest:
      return "NestFuse";
    }
    return "";
  }

  void printFusion(FusionOp fusion, unsigned indent) {
    Block &body = fusion.getBody().front();
    if (llvm::count_if(body, computes) > 1)
      line(indent++) << kindOf(fusion) << " Fusion (fuse_id: " << nodes.id(fusion.getOperation()) << "):\n";
    for (Operation &op : body.without_terminator())
      if (computes(op))
        printLine(&op, indent);
    // Data movement at the end writes a result.
    for (Value yielded : body.getTerminator()->getOperands())
      if (isFolded(yielded.getDefiningOp()))
        printCopy(yielded, indent);
  }

  void printOperation(Operation *op, unsigned indent) {
    if (isFolded(op)) {
      bool isRead =
          llvm::any_of(op->getUsers(), [](Operation *user) { return !isa<FusableOpInterface>(user); });
      if (isRead)
        printCopy(op->getResult(0), indent);
    } else if (computes(*op)) {
      printLine(op, indent);
    } else if (op->getNumResults() == 0 && llvm::any_of(op->getOperands(), isTensor)) {
      line(indent) << nodes.id(op) << " = " << describe(op);
      printOperands(op);
    }
  }

  void printTerminator(Operation *terminator, unsigned indent) {
    if (isa<func::ReturnOp>(terminator)) {
      if (terminator->getNumOperands() == 0)
        return;
      line(indent) << "Return";
      return printOperands(terminator);
    }
    for (OpOperand &operand : terminator->getOpOperands()) {
      if (!isTensor(operand.get()))
        continue;
      std::string destination = destinationOf(operand);
      if (!destination.empty())
        line(indent) << "Mat (id: " << destination << ", Global) = Yield --> ("
                     << wholeText(operand.get(), nodes) << ")\n";
    }
  }

  // Nothing for a tensor that is updated in place.
  std::string destinationOf(OpOperand &operand) {
    Operation *parent = operand.getOwner()->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return nodes.id(parent);
    BlockArgument carry = loop.getRegionIterArg(operand.getOperandNumber());
    return isUpdatedInPlace(carry) ? "" : nodes.id(carry);
  }

  void printCopy(Value moved, unsigned indent) {
    line(indent) << "Mat (id: " << nodes.id(moved) << ", Global) = Contigious --> ("
                 << movedText(moved, nodes) << ")\n";
  }

  void printLine(Operation *op, unsigned indent) {
    line(indent) << resultText(op->getResult(0), nodes) << " = "
                 << describe(op, /*inPlace=*/!!nodes.updatedCarry(op));
    printOperands(op);
  }

  void printOperands(Operation *op) {
    std::string text;
    for (OpOperand &operand : op->getOpOperands())
      if (isTensor(operand.get()))
        text += (text.empty() ? "" : ", ") + operandText(operand, nodes);
    os << (text.empty() ? "" : " --> (" + text + ")") << '\n';
  }

  func::FuncOp function;
  Nodes nodes;
  raw_ostream &os;
};

struct PrintProcedurePass : ad::impl::PrintProcedurePassBase<PrintProcedurePass> {
  using PrintProcedurePassBase::PrintProcedurePassBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(
            printFunctions(getOperation(), getArgument(), file, [](func::FuncOp function, raw_ostream &os) {
              ProcedurePrinter(function, os).print();
            })))
      signalPassFailure();
  }
};
} // namespace
