// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-lower-to-emulator`: GPU modules in the LLVM and NVVM dialects become host functions that call
// the emulated machine.
#include "Lowering.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "adjoint/Emulator/Passes.h"
#include "mlir/Analysis/CallGraph.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-lower-to-emulator"

namespace mlir::ad {
#define GEN_PASS_DEF_LOWERTOEMULATORPASS
#include "adjoint/Emulator/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad::emulator;

namespace {

const InstructionTable &instructions() {
  static const InstructionTable table = [] {
    InstructionTable made;
    addSynchronization(made);
    addWarpInstructions(made);
    addMBarriers(made);
    addCopies(made);
    addMatrices(made);
    addScalars(made);
    return made;
  }();
  return table;
}

/// Lowers one GPU module into the enclosing module.
class ModuleLowering {
public:
  ModuleLowering(ModuleOp module, gpu::GPUModuleOp gpuModule)
      : module(module), gpuModule(gpuModule), layout(module), lowering(module, sites, layout) {}
  LogicalResult run();

private:
  LogicalResult checkOperations();
  LogicalResult checkCall(LLVM::CallOp call);
  LogicalResult checkNames();
  LogicalResult checkFrames();
  void addThreadArguments();
  LogicalResult lowerOperations();
  LogicalResult lowerOne(Operation *op);
  LogicalResult lowerIntToPtr(LLVM::IntToPtrOp cast);
  /// The pointer to this offset in the CTA's shared memory.
  Value inShared(Value offset, Type type);
  void dropAddressSpaces();
  void moveOut();

  ModuleOp module;
  gpu::GPUModuleOp gpuModule;
  DataLayout layout;
  SiteTable sites;
  Lowering lowering;
  SharedLayout shared;
  SmallVector<LLVM::LLVMFuncOp> functions;
  SmallVector<LLVM::GlobalOp> memory;
};

LogicalResult ModuleLowering::checkCall(LLVM::CallOp call) {
  std::optional<StringRef> callee = call.getCallee();
  if (!callee)
    return call.emitOpError("calls through a pointer; the emulator needs to know the function");
  auto function = gpuModule.lookupSymbol<LLVM::LLVMFuncOp>(*callee);
  if (function && !function.isExternal())
    return success();
  if (callee->starts_with("__nv_"))
    return call.emitOpError()
           << "calls '" << *callee
           << "' of libdevice, whose bits the emulator does not have; expand it into arithmetic";
  return call.emitOpError() << "calls '" << *callee << "', which has no body in the module";
}

LogicalResult ModuleLowering::checkOperations() {
  for (Operation &op : *gpuModule.getBody()) {
    if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op)) {
      if (!function.isExternal())
        functions.push_back(function);
    } else if (!isa<LLVM::GlobalOp, LLVM::ComdatOp>(op)) {
      return op.emitOpError("is not of the LLVM dialect; lower the GPU module to LLVM and NVVM first");
    }
  }
  WalkResult result = gpuModule.walk([&](Operation *op) {
    if (auto call = dyn_cast<LLVM::CallOp>(op))
      return failed(checkCall(call)) ? WalkResult::interrupt() : WalkResult::advance();
    if (isa<LLVM::InlineAsmOp, NVVM::InlinePtxOp>(op)) {
      op->emitOpError(
          "is assembly text, which the emulator does not read; use an operation of the NVVM dialect");
      return WalkResult::interrupt();
    }
    if (isa<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()) || op == gpuModule)
      return WalkResult::advance();
    op->emitOpError("is neither of the LLVM nor of the NVVM dialect; lower the GPU module to them first");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult ModuleLowering::checkNames() {
  for (LLVM::LLVMFuncOp function : functions)
    if (isKernel(function) && module.lookupSymbol(("adsim_code_" + function.getName()).str()))
      return function.emitOpError(
          "has the name of another kernel of the program; the emulator needs one name each");
  return success();
}

// The memory of a thread's variables is one frame of a known size.
LogicalResult ModuleLowering::checkFrames() {
  // CUDA C++ Programming Guide, compute capabilities: local memory of a thread.
  constexpr int64_t maxLocalBytes = 512 * 1024;
  WalkResult result = gpuModule.walk([&](LLVM::AllocaOp alloca) {
    std::optional<int64_t> count = getConstantIntValue(alloca.getArraySize());
    int64_t bytes = static_cast<int64_t>(layout.getTypeSize(alloca.getElemType()).getFixedValue());
    if (count && *count >= 0 && *count <= maxLocalBytes / std::max<int64_t>(bytes, 1))
      return WalkResult::advance();
    alloca.emitOpError("needs a constant number of elements, at most ")
        << maxLocalBytes << " bytes, which is the local memory of a thread";
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  CallGraph graph(gpuModule);
  for (auto scc = llvm::scc_begin(&std::as_const(graph)); !scc.isAtEnd(); ++scc)
    if (scc.hasCycle())
      return scc->front()->getCallableRegion()->getParentOp()->emitOpError(
          "calls itself, perhaps through others; the emulator needs to know the memory of a thread, so write "
          "a loop");
  return success();
}

// insertArgument of the interface does nothing for functions without a result.
static void insertFirstArgument(LLVM::LLVMFuncOp function, Type type) {
  LLVM::LLVMFunctionType old = function.getFunctionType();
  SmallVector<Type> types{type};
  llvm::append_range(types, old.getParams());
  SmallVector<DictionaryAttr> attributes{DictionaryAttr::get(function.getContext())};
  for (unsigned index = 0; index < old.getNumParams(); ++index) {
    DictionaryAttr own = function.getArgAttrDict(index);
    attributes.push_back(own ? own : attributes.front());
  }
  function.setFunctionType(LLVM::LLVMFunctionType::get(old.getReturnType(), types, old.isVarArg()));
  function.setAllArgAttrs(attributes);
  function.getBody().front().insertArgument(0u, type, function.getLoc());
}

static bool isShortFloat(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 16; }

// 16-bit floats are passed as integers: calls on x86 may convert bf16 and flush subnormals.
static void passShortFloatsAsBits(LLVM::LLVMFuncOp function) {
  LLVM::LLVMFunctionType type = function.getFunctionType();
  SmallVector<Type> types(type.getParams());
  Block &entry = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  for (auto [given, argument] : llvm::zip_equal(types, entry.getArguments())) {
    if (!isShortFloat(given))
      continue;
    Type number = given;
    given = builder.getI16Type();
    argument.setType(given);
    auto cast = LLVM::BitcastOp::create(builder, function.getLoc(), number, argument);
    argument.replaceAllUsesExcept(cast, cast);
  }
  function.setFunctionType(LLVM::LLVMFunctionType::get(type.getReturnType(), types, type.isVarArg()));
}

// The running thread becomes the first argument of each function, so that no instruction has to look it up.
void ModuleLowering::addThreadArguments() {
  for (LLVM::LLVMFuncOp function : functions) {
    insertFirstArgument(function, lowering.pointer);
    passShortFloatsAsBits(function);
  }
  gpuModule.walk([&](LLVM::CallOp call) {
    OpBuilder builder(call);
    SmallVector<Value> arguments{call->getParentOfType<LLVM::LLVMFuncOp>().getArgument(0)};
    for (Value given : call.getArgOperands())
      arguments.push_back(isShortFloat(given.getType())
                              ? LLVM::BitcastOp::create(builder, call.getLoc(), builder.getI16Type(), given)
                              : given);
    auto function = gpuModule.lookupSymbol<LLVM::LLVMFuncOp>(*call.getCallee());
    auto made = LLVM::CallOp::create(builder, call.getLoc(), function, arguments);
    call->replaceAllUsesWith(made->getResults());
    call.erase();
  });
}

Value ModuleLowering::inShared(Value offset, Type type) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  Value base = LLVM::GEPOp::create(builder, loc, lowering.pointer, builder.getI8Type(), lowering.self(),
                                   ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(adsim::sharedBaseOffset)});
  base = LLVM::LoadOp::create(builder, loc, lowering.pointer, base, /*alignment=*/8, /*isVolatile=*/false,
                              /*isNonTemporal=*/false, /*isInvariant=*/true);
  return LLVM::GEPOp::create(builder, loc, type, builder.getI8Type(), base, ArrayRef<LLVM::GEPArg>{offset});
}

// Addresses of shared memory have 32 bits on a GPU and 64 bits here. The low bits, within the window of the
// CTA, are the same.
LogicalResult ModuleLowering::lowerIntToPtr(LLVM::IntToPtrOp cast) {
  unsigned space = llvm::cast<LLVM::LLVMPointerType>(cast.getType()).getAddressSpace();
  if (space == ClusterSpace)
    return cast.emitOpError(
        "makes an address of the cluster's shared memory, which the emulator only gets by 'nvvm.mapa'");
  if (space != SharedSpace)
    return success();
  Value bits = lowering.asInteger(cast.getArg(), 64);
  Value window = lowering.constant64(static_cast<int64_t>(adsim::sharedWindow - 1));
  lowering.replace(
      inShared(LLVM::AndOp::create(lowering.builder, lowering.loc(), bits, window), cast.getType()));
  return success();
}

LogicalResult ModuleLowering::lowerOne(Operation *op) {
  lowering.setOperation(op);
  StringRef name = op->getName().getStringRef();
  if (name.consume_front("nvvm.read.ptx.sreg."))
    return lowerRegister(lowering, op, name);
  auto found = instructions().find(op->getName().getStringRef());
  if (found != instructions().end())
    return found->second(lowering, op);
  if (isa<NVVM::NVVMDialect>(op->getDialect()))
    return op->emitOpError("is an instruction that the emulator does not have");
  if (auto address = dyn_cast<LLVM::AddressOfOp>(op)) {
    auto offset = shared.offsets.find(address.getGlobalName());
    if (offset != shared.offsets.end())
      lowering.replace(
          inShared(lowering.constant64(static_cast<int64_t>(offset->second)), address.getType()));
    return success();
  }
  if (auto cast = dyn_cast<LLVM::IntToPtrOp>(op))
    return lowerIntToPtr(cast);
  if (failed(instrument(lowering, op)))
    return failure();
  return expandFloats(lowering, op);
}

LogicalResult ModuleLowering::lowerOperations() {
  SmallVector<Operation *> operations;
  for (LLVM::LLVMFuncOp function : functions)
    function.getBody().walk([&](Operation *op) { operations.push_back(op); });
  for (LLVM::LLVMFuncOp function : functions)
    watchAccumulators(lowering, function);
  for (Operation *op : operations)
    if (failed(lowerOne(op)))
      return failure();
  return success();
}

void ModuleLowering::dropAddressSpaces() {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](LLVM::LLVMPointerType) -> std::optional<Type> { return lowering.pointer; });
  gpuModule.walk([&](Operation *op) {
    replacer.replaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
  });
  gpuModule.walk([](LLVM::AddrSpaceCastOp cast) {
    cast.getRes().replaceAllUsesWith(cast.getArg());
    cast.erase();
  });
}

// Puts `prefix` before the names of these symbols. SymbolTable::rename would walk the whole module for each.
static void renameSymbols(Operation *table, ArrayRef<Operation *> symbols, const Twine &prefix) {
  DenseMap<StringAttr, StringAttr> renamed;
  for (Operation *symbol : symbols) {
    StringAttr old = SymbolTable::getSymbolName(symbol);
    auto name = StringAttr::get(old.getContext(), prefix + old.getValue());
    renamed.insert({old, name});
    SymbolTable::setSymbolName(symbol, name);
  }
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](SymbolRefAttr use) -> std::pair<Attribute, WalkResult> {
    StringAttr name = isa<FlatSymbolRefAttr>(use) ? renamed.lookup(use.getRootReference()) : StringAttr();
    return {name ? FlatSymbolRefAttr::get(name) : use, WalkResult::skip()};
  });
  replacer.recursivelyReplaceElementsIn(table);
}

// Moves functions and variables out of the GPU module, under names that no host code has.
void ModuleLowering::moveOut() {
  SmallVector<Operation *> kept;
  for (Operation &op : llvm::make_early_inc_range(*gpuModule.getBody())) {
    auto global = dyn_cast<LLVM::GlobalOp>(op);
    auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
    bool dropped = function ? function.isExternal() : !global || shared.offsets.contains(global.getName());
    if (dropped)
      op.erase();
    else
      kept.push_back(&op);
  }
  renameSymbols(gpuModule, kept, ("adsim_body_" + gpuModule.getName() + "_").str());
  for (Operation *op : kept) {
    if (auto global = dyn_cast<LLVM::GlobalOp>(op)) {
      global.setAddrSpace(0);
      global.setLinkage(LLVM::Linkage::Internal);
      memory.push_back(global);
    } else {
      cast<LLVM::LLVMFuncOp>(op).setLinkage(LLVM::Linkage::Internal);
    }
    op->moveBefore(gpuModule);
  }
}

/// Removes the attributes of the GPU's back end.
void removeTargetAttributes(LLVM::LLVMFuncOp function) {
  SmallVector<StringAttr> names;
  for (NamedAttribute attribute : function->getDiscardableAttrs())
    if (attribute.getName().strref().starts_with("nvvm.") || attribute.getName().strref().starts_with("gpu."))
      names.push_back(attribute.getName());
  for (StringAttr name : names)
    function->removeDiscardableAttr(name);
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    function.setArgAttrs(index, ArrayRef<NamedAttribute>{});
}

LogicalResult ModuleLowering::run() {
  if (failed(checkOperations()) || failed(checkNames()) || failed(checkFrames()))
    return failure();
  FailureOr<SharedLayout> found = layOutShared(gpuModule, layout);
  if (failed(found))
    return failure();
  shared = std::move(*found);
  SmallVector<std::pair<LLVM::LLVMFuncOp, std::string>> kernels;
  for (LLVM::LLVMFuncOp function : functions)
    if (isKernel(function))
      kernels.push_back({function, function.getName().str()});
  addThreadArguments();
  if (failed(lowerOperations()))
    return failure();
  for (LLVM::LLVMFuncOp function : functions)
    shared.localBytes += frameBytes(function, layout);
  LDBG() << "@" << gpuModule.getName() << ": " << kernels.size() << " kernels, " << shared.localBytes
         << " bytes of local memory per thread";
  dropAddressSpaces();
  moveOut();
  for (auto &[kernel, name] : kernels)
    emitKernel(module, kernel, name, shared, sites, memory, layout);
  for (LLVM::LLVMFuncOp function : functions)
    removeTargetAttributes(function);
  gpuModule.erase();
  return success();
}

class LowerToEmulatorPass : public ad::impl::LowerToEmulatorPassBase<LowerToEmulatorPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(ad::requireStage(getOperation(), ad::Stage::emitted)))
      return signalPassFailure();
    if (!module.lookupSymbol("adsim_self")) {
      OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
      auto pointer = LLVM::LLVMPointerType::get(&getContext());
      LLVM::LLVMFuncOp::create(builder, module.getLoc(), "adsim_self",
                               LLVM::LLVMFunctionType::get(pointer, {}));
    }
    for (gpu::GPUModuleOp gpuModule : llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>()))
      if (failed(ModuleLowering(module, gpuModule).run()))
        return signalPassFailure();
  }
};

} // namespace
