// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ValueCasts.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ad;

Type ad::getPolicyElement(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  Type element = tensor ? tensor.getElementType() : Type();
  return isa_and_nonnull<Float32Type, BFloat16Type, Float16Type>(element) ? element : Type();
}

bool ad::isOtherFloatTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType()) && !getPolicyElement(type);
}

// The cast may change what the operation that requires it may change, or the one that defines the value.
static PermissionsAttr permissionsFor(Operation *user, Value value) {
  bool carries = false;
  for (Operation *op : {user, value.getDefiningOp()}) {
    auto numerics = dyn_cast_or_null<NumericsOpInterface>(op);
    carries |= static_cast<bool>(numerics);
    if (numerics && numerics.hasPermissions())
      return PermissionsAttr::get(op->getContext(), numerics.getPermissions());
  }
  // Between an argument and a result.
  NumericsAttr contract = carries ? NumericsAttr() : numericsInForceAt(user);
  return contract ? PermissionsAttr::get(user->getContext(), contract.permissions()) : nullptr;
}

void ValueCasts::report(Operation *user, Type from, Type to, StringRef source) const {
  auto text = [](Type type) {
    std::string result;
    llvm::raw_string_ostream(result) << type;
    return result;
  };
  remark::passed(user->getLoc(), remark::RemarkOpts::name("cast").category("ad-precision"))
      << remark::metric("operation", user->getName().getStringRef()) << remark::metric("from", text(from))
      << remark::metric("to", text(to)) << remark::metric("why", source)
      << remark::metric("policy", policy.name);
  if (NumericsLog *log = NumericsLog::get(user->getContext()))
    log->record(user->getLoc(), "ad-autocast", source);
}

Value ValueCasts::get(Value value, Type element, Operation *user, StringRef source) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  Value &known = casts[{value, element}];
  if (known)
    return known;
  OpBuilder builder(user->getContext());
  Operation *definition = value.getDefiningOp();
  Block *block = value.getParentBlock();
  Operation *&before = last[definition ? static_cast<void *>(definition) : static_cast<void *>(block)];
  if (before || definition)
    builder.setInsertionPointAfter(before ? before : definition);
  else
    builder.setInsertionPointToStart(block);
  auto made =
      CastOp::create(builder, user->getLoc(), type.clone(element), value, permissionsFor(user, value));
  before = made;
  report(user, type.getElementType(), element, source);
  return known = made;
}
