// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reads signatures from modules. Operations of `ad` are recognised by name, so that the runner needs no
// dialect of ours and works on modules of any stage.
#include "adjoint/Runner/Executable/Signature.h"
#include "adjoint/Support/Error.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::ad::runner;

namespace {

llvm::Error located(Operation *op, const Twine &message) {
  op->emitOpError(message);
  return exitError(ExitProgramError, "");
}

/// Scalars are passed as tensors of rank 0, index as i64.
llvm::Expected<TensorSpec> readTensor(Operation *op, Type type, std::string name,
                                      std::optional<Location> where = std::nullopt) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  Type element = tensor ? tensor.getElementType() : type;
  std::string elementName;
  llvm::raw_string_ostream(elementName) << element;
  std::optional<adrt_type> known = type.isIndex() ? ADRT_I64 : parseElementType(elementName);
  if (!known) {
    std::string whole;
    llvm::raw_string_ostream(whole) << type;
    emitError(where.value_or(op->getLoc()))
        << "'" << op->getName() << "' op has value '" << name << "' of type " << whole
        << ", expected a ranked tensor of f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i32 or i64"
        << (tensor ? ", not of " + elementName : "");
    return exitError(ExitProgramError, "");
  }
  TensorSpec spec{std::move(name), *known};
  for (int64_t size : tensor ? tensor.getShape() : ArrayRef<int64_t>())
    spec.shape.push_back(ShapedType::isDynamic(size) ? dynamicSize : size);
  return spec;
}

/// Walks over all functions that the entry may call.
class SignatureReader {
public:
  SignatureReader(ModuleOp module, func::FuncOp entry) : module(module), entry(entry) {}
  llvm::Expected<Signature> read();

private:
  llvm::Error readArguments();
  llvm::Error readResults();
  llvm::Error readFeed(Operation *op);
  llvm::Error readReceive(Operation *op);
  llvm::Error checkNames(llvm::ArrayRef<TensorSpec> specs, StringRef what);

  ModuleOp module;
  func::FuncOp entry;
  Signature signature;
};

std::string nameOr(Attribute attribute, StringRef fallback, unsigned index) {
  if (auto name = dyn_cast_or_null<StringAttr>(attribute))
    if (!name.empty())
      return name.str();
  return (fallback + Twine(index)).str();
}

llvm::Error SignatureReader::checkNames(llvm::ArrayRef<TensorSpec> specs, StringRef what) {
  for (size_t i = 0; i < specs.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (specs[i].name == specs[j].name)
        return located(entry, "has two " + what + "s named '" + specs[i].name + "'");
  return llvm::Error::success();
}

llvm::Error SignatureReader::readArguments() {
  for (auto [index, type] : llvm::enumerate(entry.getArgumentTypes())) {
    unsigned position = static_cast<unsigned>(index);
    llvm::Expected<TensorSpec> spec =
        readTensor(entry, type, nameOr(entry.getArgAttr(position, "ad.name"), "arg", position),
                   entry.isExternal() ? entry.getLoc() : entry.getArgument(position).getLoc());
    if (!spec)
      return spec.takeError();
    if (auto donated = entry.getArgAttrOfType<IntegerAttr>(position, "ad.donated"))
      spec->donated = static_cast<int>(donated.getInt());
    signature.arguments.push_back(std::move(*spec));
  }
  return checkNames(signature.arguments, "argument");
}

llvm::Error SignatureReader::readResults() {
  for (auto [index, type] : llvm::enumerate(entry.getResultTypes())) {
    unsigned position = static_cast<unsigned>(index);
    llvm::Expected<TensorSpec> spec =
        readTensor(entry, type, nameOr(entry.getResultAttr(position, "ad.name"), "res", position));
    if (!spec)
      return spec.takeError();
    signature.results.push_back(std::move(*spec));
  }
  return checkNames(signature.results, "result");
}

llvm::Error SignatureReader::readFeed(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>("name");
  if (!name || op->getNumResults() != 1)
    return located(op, "expected a name and one result");
  llvm::Expected<TensorSpec> spec = readTensor(op, op->getResult(0).getType(), name.str());
  if (!spec)
    return spec.takeError();
  for (TensorSpec &other : signature.feeds) {
    if (other.name != spec->name)
      continue;
    if (other.type != spec->type || other.shape.size() != spec->shape.size())
      return located(op, "feeds '" + name.str() + "' as " + formatType(*spec) + ", elsewhere as " +
                             formatType(other));
    // Sizes may differ between operations; the feed then gets the size of each request.
    for (auto [size, otherSize] : llvm::zip(spec->shape, other.shape))
      if (size != otherSize)
        otherSize = dynamicSize;
    return llvm::Error::success();
  }
  signature.feeds.push_back(std::move(*spec));
  return llvm::Error::success();
}

llvm::Error SignatureReader::readReceive(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>("name");
  if (!name)
    return located(op, "expected a name");
  ReceiveSpec receive{name.str(), {}};
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    std::string valueName =
        op->getNumOperands() == 1 ? name.str() : (name.getValue() + "." + Twine(index)).str();
    llvm::Expected<TensorSpec> spec = readTensor(op, operand.getType(), std::move(valueName));
    if (!spec)
      return spec.takeError();
    receive.values.push_back(std::move(*spec));
  }
  for (ReceiveSpec &other : signature.receives) {
    if (other.name != receive.name)
      continue;
    if (other.values.size() != receive.values.size())
      return located(op, "sends " + Twine(receive.values.size()) + " values as '" + name.str() +
                             "', elsewhere " + Twine(other.values.size()));
    return llvm::Error::success();
  }
  signature.receives.push_back(std::move(receive));
  return llvm::Error::success();
}

llvm::Expected<Signature> SignatureReader::read() {
  signature.entry = entry.getSymName().str();
  if (llvm::Error error = readArguments())
    return std::move(error);
  if (llvm::Error error = readResults())
    return std::move(error);
  llvm::SetVector<Operation *> reached;
  reached.insert(entry);
  llvm::Error error = llvm::Error::success();
  for (size_t next = 0; next < reached.size(); ++next) {
    WalkResult walk = reached[next]->walk([&](Operation *op) {
      if (op->getName().getStringRef() == "ad.feed")
        error = readFeed(op);
      else if (op->getName().getStringRef() == "ad.receive")
        error = readReceive(op);
      if (error)
        return WalkResult::interrupt();
      op->getAttrDictionary().walk([&](SymbolRefAttr symbol) {
        if (Operation *callee = SymbolTable::lookupSymbolIn(module, symbol))
          reached.insert(callee);
      });
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return std::move(error);
  }
  if (error)
    return std::move(error);
  return std::move(signature);
}

} // namespace

llvm::Expected<Signature> mlir::ad::runner::readSignature(ModuleOp module, StringRef entry) {
  if (auto function = module.lookupSymbol<func::FuncOp>(entry))
    return SignatureReader(module, function).read();
  std::string known;
  for (auto function : module.getOps<func::FuncOp>())
    known += (known.empty() ? "@" : ", @") + function.getSymName().str();
  if (known.empty())
    return usageError("the program has no functions");
  return usageError("the program has no function @" + entry + ", it has " + known);
}
