// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors of index have no element type of `ad`. An index has 64 bits on all targets, so they are tensors of
// i64.

#include "Importer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::ad;

static Type importedType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isIndex() ? tensor.clone(IntegerType::get(type.getContext(), 64))
                                                     : type;
}

bool ad::hasIndexTensor(Operation *op) {
  auto isOne = [](Type type) { return importedType(type) != type; };
  if (auto function = dyn_cast<func::FuncOp>(op))
    return llvm::any_of(function.getArgumentTypes(), isOne) || llvm::any_of(function.getResultTypes(), isOne);
  return llvm::any_of(op->getResultTypes(), isOne);
}

static void importValues(ValueRange values) {
  for (Value value : values)
    value.setType(importedType(value.getType()));
}

static void importSignature(func::FuncOp function) {
  auto types = [](TypeRange from) { return llvm::map_to_vector(from, importedType); };
  function.setType(FunctionType::get(function.getContext(), types(function.getArgumentTypes()),
                                     types(function.getResultTypes())));
}

static void importConstant(arith::ConstantOp constant) {
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!elements || !elements.getElementType().isIndex())
    return;
  Type i64 = IntegerType::get(constant.getContext(), 64);
  constant.setValueAttr(elements.mapValues(i64, [](const APInt &value) { return value.sextOrTrunc(64); }));
}

// An element that the program uses as an index is converted where it is read.
static void importExtract(tensor::ExtractOp extract) {
  if (!extract.getType().isIndex())
    return;
  OpBuilder builder(extract);
  Value element =
      tensor::ExtractOp::create(builder, extract.getLoc(), extract.getTensor(), extract.getIndices());
  Value index = arith::IndexCastOp::create(builder, extract.getLoc(), builder.getIndexType(), element);
  extract.getResult().replaceAllUsesWith(index);
  extract.erase();
}

void ad::importIndexTensors(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    importSignature(function);
    SmallVector<tensor::ExtractOp> extracts;
    function.walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          importValues(block.getArguments());
      importValues(op->getResults());
      if (auto constant = dyn_cast<arith::ConstantOp>(op))
        importConstant(constant);
      if (auto extract = dyn_cast<tensor::ExtractOp>(op))
        extracts.push_back(extract);
    });
    llvm::for_each(extracts, importExtract);
  }
}
