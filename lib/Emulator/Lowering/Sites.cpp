// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Numbering and emitting sites.
#include "Sites.h"
#include "adjoint/Support/LocationText.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::ad::emulator;

int32_t SiteTable::addText(llvm::StringRef text) {
  auto [found, fresh] = textOffsets.try_emplace(text, static_cast<int32_t>(texts.size()));
  if (fresh) {
    texts += text;
    texts += '\0';
  }
  return found->second;
}

int64_t SiteTable::add(Operation *op) {
  auto number = static_cast<int64_t>(size());
  offsets.push_back(addText(locationText(op->getLoc())));
  offsets.push_back(addText(op->getName().getStringRef()));
  return number;
}

std::pair<LLVM::GlobalOp, LLVM::GlobalOp> SiteTable::emit(ModuleOp module) {
  if (emittedTexts)
    return {cast<LLVM::GlobalOp>(emittedTexts), cast<LLVM::GlobalOp>(emittedOffsets)};
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  if (offsets.empty()) // arrays must not be empty
    offsets = {addText("unknown"), addText("unknown")};
  auto make = [&](StringRef name, Type element, int64_t count, Attribute value) {
    SymbolTable symbols(module);
    auto type = LLVM::LLVMArrayType::get(element, static_cast<unsigned>(count));
    auto global = LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/true,
                                         LLVM::Linkage::Internal, name, value);
    global->remove();
    symbols.insert(global, builder.getInsertionPoint());
    return global;
  };
  auto offsetCount = static_cast<int64_t>(offsets.size());
  auto offsetType = RankedTensorType::get({offsetCount}, builder.getI32Type());
  auto text = make("adsim_site_text", builder.getI8Type(), static_cast<int64_t>(texts.size()),
                   builder.getStringAttr(texts));
  auto table = make("adsim_site_offsets", builder.getI32Type(), offsetCount,
                    DenseElementsAttr::get(offsetType, llvm::ArrayRef(offsets)));
  emittedTexts = text;
  emittedOffsets = table;
  return {text, table};
}
