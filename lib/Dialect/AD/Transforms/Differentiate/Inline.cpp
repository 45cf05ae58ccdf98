// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Inlining of calls in front of differentiation.

#include "Inline.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ad;

static void inlineCall(func::CallOp call, Block &body) {
  OpBuilder builder(call);
  IRMapping copies;
  copies.map(body.getArguments(), call.getOperands());
  for (Operation &op : body.without_terminator())
    builder.clone(op, copies);
  for (auto [result, value] : llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(copies.lookupOrDefault(value));
  call.erase();
}

LogicalResult ad::inlineCalls(func::FuncOp function, SymbolTable &symbols) {
  for (;;) {
    SmallVector<std::pair<func::CallOp, func::FuncOp>> calls;
    function.walk([&](func::CallOp call) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (callee && !callee.isExternal())
        calls.emplace_back(call, callee);
    });
    if (calls.empty())
      return success();
    for (auto [call, callee] : calls) {
      if (!callee.getBody().hasOneBlock())
        return call.emitOpError("expected '")
               << callee.getSymName() << "' to have structured control flow to be differentiated, but got "
               << callee.getBody().getBlocks().size() << " blocks";
      inlineCall(call, callee.getBody().front());
    }
  }
}
