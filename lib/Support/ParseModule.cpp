// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Support/ParseModule.h"

#include "adjoint/Support/Nesting.h"
#include "adjoint/Support/Printable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/VirtualFileSystem.h"

#include <climits>

using namespace mlir;

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> ad::noFiles() {
  return llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
}

// Whether an attribute is no array, or one that can be printed: of integers or floats, as long as it says.
// MLIR's reader of bytecode makes others, too, and its printer reads what they do not have.
static bool isArrayOfNumbers(Attribute attribute) {
  auto array = dyn_cast<DenseArrayAttr>(attribute);
  if (!array)
    return true;
  Type element = array.getElementType();
  if (!element.isIntOrFloat())
    return false;
  uint64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), CHAR_BIT),
           held = array.getRawData().size();
  return bytes != 0 && held % bytes == 0 && held / bytes == static_cast<uint64_t>(array.getSize());
}

static bool canBePrinted(Attribute attribute) {
  WalkResult result = attribute.walk([](Attribute part) {
    return isArrayOfNumbers(part) ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

// The reader of bytecode tells of attributes before a module is there that could be verified.
static LogicalResult nameUnprintableAttributes(Diagnostic &diagnostic) {
  for (DiagnosticArgument &argument : diagnostic.getArguments())
    if (argument.getKind() == DiagnosticArgument::DiagnosticArgumentKind::Attribute &&
        !canBePrinted(argument.getAsAttribute()))
      argument = DiagnosticArgument(StringRef("an array of neither integers nor floats"));
  return failure(); // the next handler prints it
}

OwningOpRef<ModuleOp> ad::readModule(const llvm::SourceMgr &sources, MLIRContext *context) {
  ScopedDiagnosticHandler handler(context, nameUnprintableAttributes);
  return parseSourceFile<ModuleOp>(sources, ParserConfig(context, /*verifyAfterParse=*/false));
}

static LogicalResult verifyText(const llvm::SourceMgr &sources, MLIRContext *context) {
  const llvm::MemoryBuffer *text = sources.getMemoryBuffer(sources.getMainFileID());
  std::optional<ad::UnreadableText> found = ad::findUnreadable(text->getBuffer());
  if (!found)
    return success();
  auto [line, column] =
      sources.getLineAndColumn(llvm::SMLoc::getFromPointer(found->at), sources.getMainFileID());
  return emitError(FileLineColLoc::get(context, text->getBufferIdentifier(), line, column), found->message);
}

namespace {
/// How deep attributes, types and locations are nested, and how many they are when each is written out:
/// aliases and bytecode name them, so that few lines may stand for more than any printer could write.
class NestingMeter {
public:
  struct Extent {
    size_t depth = 0;
    uint64_t count = 0;
    bool hasNumbers = true; ///< in each of its arrays
  };

  /// Of an attribute, a type or a location. It does not recurse.
  template <class AttributeOrType> Extent measure(AttributeOrType root) {
    push(root);
    while (!open.empty()) {
      Item item = open.back();
      if (measured.count(item.getOpaqueValue())) {
        open.pop_back();
        continue;
      }
      if (!pushParts(item))
        continue; // first its parts
      measured[item.getOpaqueValue()] = extentOf(item);
      open.pop_back();
    }
    return measured.lookup(Item(root).getOpaqueValue());
  }

private:
  using Item = llvm::PointerUnion<Attribute, Type>;

  static void forEachPart(Item item, function_ref<void(Item)> visit) {
    auto visitAttribute = [&](Attribute part) { part ? visit(part) : void(); };
    auto visitType = [&](Type part) { part ? visit(part) : void(); };
    if (auto attribute = dyn_cast<Attribute>(item))
      attribute.walkImmediateSubElements(visitAttribute, visitType);
    else
      cast<Type>(item).walkImmediateSubElements(visitAttribute, visitType);
  }

  void push(Item item) { open.push_back(item); }

  /// Whether all parts are measured; pushes those that are not.
  bool pushParts(Item item) {
    size_t before = open.size();
    forEachPart(item, [&](Item part) {
      if (!measured.count(part.getOpaqueValue()))
        push(part);
    });
    return open.size() == before;
  }

  Extent extentOf(Item item) const {
    auto attribute = dyn_cast<Attribute>(item);
    Extent extent{0, 1, !attribute || isArrayOfNumbers(attribute)};
    forEachPart(item, [&](Item part) {
      Extent inner = measured.lookup(part.getOpaqueValue());
      extent.depth = std::max(extent.depth, inner.depth);
      extent.count = llvm::SaturatingAdd(extent.count, inner.count);
      extent.hasNumbers &= inner.hasNumbers;
    });
    ++extent.depth;
    return extent;
  }

  SmallVector<Item> open;
  DenseMap<void *, Extent> measured;
};
} // namespace

// A location may be nested too deeply itself, so the error has the one of the module.
template <class Element>
static LogicalResult verifyNested(Operation *module, NestingMeter &meter, Element element, StringRef kind) {
  constexpr uint64_t maxCount = uint64_t(1) << 24;
  NestingMeter::Extent extent = meter.measure(element);
  Location place = FileLineColLoc::get(module->getContext(), "-", 1, 1);
  if (auto file = dyn_cast<FileLineColLoc>(LocationAttr(module->getLoc())))
    place = file;
  if (extent.depth > ad::kMaxNesting)
    return emitError(place,
                     "expected " + kind + " that are nested at most " + Twine(ad::kMaxNesting) + " deep");
  if (!extent.hasNumbers)
    return emitError(place, "expected arrays of integers or floats in " + kind);
  if (extent.count > maxCount)
    return emitError(place, "expected " + kind + " of at most " + Twine(maxCount) +
                                " parts, each counted as often as it is named");
  return success();
}

static LogicalResult verifyAttributes(Operation *module, NestingMeter &meter, Operation *op) {
  if (failed(verifyNested(module, meter, LocationAttr(op->getLoc()), "locations")) ||
      failed(verifyNested(module, meter, op->getAttrDictionary(), "attributes")))
    return failure();
  for (Type type : op->getResultTypes())
    if (failed(verifyNested(module, meter, type, "types")))
      return failure();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        if (failed(verifyNested(module, meter, argument.getType(), "types")) ||
            failed(verifyNested(module, meter, LocationAttr(argument.getLoc()), "locations")))
          return failure();
  return success();
}

static LogicalResult verifyOperations(Operation *module) {
  NestingMeter meter;
  SmallVector<std::pair<Operation *, size_t>> open = {{module, 0}};
  while (!open.empty()) {
    auto [op, depth] = open.pop_back_val();
    if (failed(verifyAttributes(module, meter, op)))
      return failure();
    if (depth > ad::kMaxNesting)
      return emitError(op->getLoc(),
                       "expected operations that are nested at most " + Twine(ad::kMaxNesting) + " deep");
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          open.push_back({&inner, depth + 1});
  }
  return success();
}

LogicalResult ad::verifyDepth(OwningOpRef<ModuleOp> &module) {
  if (succeeded(verifyOperations(*module)))
    return success();
  module.release();
  return failure();
}

OwningOpRef<ModuleOp> ad::parseModule(const llvm::SourceMgr &sources, MLIRContext *context) {
  if (failed(verifyText(sources, context)))
    return nullptr;
  OwningOpRef<ModuleOp> module = readModule(sources, context);
  if (!module || failed(verifyDepth(module)) || failed(verify(*module)))
    return nullptr;
  return module;
}
