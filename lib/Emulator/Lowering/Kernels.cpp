// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The layout of shared memory, and for each kernel an entry that unpacks arguments and a constant with its
// description, adsim::KernelCode.
#include "Lowering.h"
#include "adjoint/Codegen/Kernel/KernelFunctions.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad::emulator;

bool mlir::ad::emulator::isKernel(LLVM::LLVMFuncOp function) {
  return function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
}

// The only function that uses each variable; null if several functions use it.
static DenseMap<StringAttr, LLVM::LLVMFuncOp> findOwners(gpu::GPUModuleOp module) {
  DenseMap<StringAttr, LLVM::LLVMFuncOp> owners;
  module.walk([&](LLVM::AddressOfOp address) {
    auto function = address->getParentOfType<LLVM::LLVMFuncOp>();
    auto [known, isNew] = owners.try_emplace(address.getGlobalNameAttr().getAttr(), function);
    if (!isNew && known->second != function)
      known->second = {};
  });
  return owners;
}

namespace {
/// Variables in shared memory: those of several kernels, those of one kernel, and dynamic ones.
struct SharedVariables {
  SmallVector<LLVM::GlobalOp> common, ofOneKernel, dynamic;
  uint64_t maxAlignment = 16;
};
} // namespace

static FailureOr<SharedVariables> findShared(gpu::GPUModuleOp module, const DataLayout &layout,
                                             function_ref<LLVM::LLVMFuncOp(LLVM::GlobalOp)> ownerOf) {
  SharedVariables variables;
  for (LLVM::GlobalOp global : module.getOps<LLVM::GlobalOp>()) {
    if (global.getAddrSpace() != SharedSpace)
      continue;
    if (global.getInitializerBlock() ||
        (global.getValueAttr() && !isa<LLVM::UndefAttr>(global.getValueAttr())))
      return global.emitOpError()
             << "initializes shared memory, which a GPU cannot do; store into it in the kernel";
    variables.maxAlignment = std::max<uint64_t>(variables.maxAlignment, global.getAlignment().value_or(16));
    bool isDynamic = layout.getTypeSize(global.getGlobalType()).isZero();
    (isDynamic         ? variables.dynamic
     : ownerOf(global) ? variables.ofOneKernel
                       : variables.common)
        .push_back(global);
  }
  return variables;
}

// As on a GPU, a variable that only one kernel uses takes no memory in other kernels: the variables of each
// kernel begin at the same offset. Dynamic shared memory begins after them.
FailureOr<SharedLayout> mlir::ad::emulator::layOutShared(gpu::GPUModuleOp module, const DataLayout &layout) {
  DenseMap<StringAttr, LLVM::LLVMFuncOp> owners = findOwners(module);
  auto ownerOf = [&](LLVM::GlobalOp global) {
    LLVM::LLVMFuncOp owner = owners.lookup(global.getSymNameAttr());
    return owner && isKernel(owner) ? owner : LLVM::LLVMFuncOp();
  };
  FailureOr<SharedVariables> variables = findShared(module, layout, ownerOf);
  if (failed(variables))
    return failure();
  SharedLayout result;
  auto allocate = [&](LLVM::GlobalOp global, uint64_t &end) {
    end = llvm::alignTo(end, std::max<uint64_t>(16, global.getAlignment().value_or(16)));
    result.offsets[global.getName()] = end;
    end += layout.getTypeSize(global.getGlobalType()).getFixedValue();
  };
  for (LLVM::GlobalOp global : variables->common)
    allocate(global, result.staticBytes);
  uint64_t common = result.staticBytes, maxEnd = common;
  auto allocateInKernel = [&](LLVM::GlobalOp global) {
    uint64_t &end = result.ofKernel.try_emplace(ownerOf(global).getName(), common).first->second;
    allocate(global, end);
    maxEnd = std::max(maxEnd, end);
  };
  llvm::for_each(variables->ofOneKernel, allocateInKernel);
  if (llvm::all_of(variables->dynamic, ownerOf)) {
    llvm::for_each(variables->dynamic, allocateInKernel);
    return result;
  }
  result.ofKernel.clear();
  result.staticBytes = llvm::alignTo(maxEnd, variables->maxAlignment);
  for (LLVM::GlobalOp global : variables->dynamic)
    result.offsets[global.getName()] = result.staticBytes;
  return result;
}

uint64_t mlir::ad::emulator::frameBytes(LLVM::LLVMFuncOp function, const DataLayout &layout) {
  constexpr uint64_t alignment = 64;
  uint64_t bytes = 0;
  function.walk([&](LLVM::AllocaOp alloca) {
    bytes += alignment + layout.getTypeSize(alloca.getElemType()).getFixedValue() *
                             static_cast<uint64_t>(*getConstantIntValue(alloca.getArraySize()));
  });
  // By-value parameters are copied into the frame of the entry.
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (Attribute held = function.getArgAttr(index, LLVM::LLVMDialect::getByValAttrName()))
      bytes += alignment + layout.getTypeSize(cast<TypeAttr>(held).getValue()).getFixedValue();
  return bytes;
}

namespace {

class KernelEmitter {
public:
  KernelEmitter(ModuleOp module, LLVM::LLVMFuncOp kernel, StringRef name, const DataLayout &layout)
      : builder(OpBuilder::atBlockEnd(module.getBody())), module(module), kernel(kernel), name(name.str()),
        layout(layout), loc(kernel.getLoc()), pointer(LLVM::LLVMPointerType::get(module.getContext())),
        i32(builder.getI32Type()), i64(builder.getI64Type()) {}

  LLVM::LLVMFuncOp emitEntry();
  void emitCode(LLVM::LLVMFuncOp entry, const SharedLayout &shared, SiteTable &sites,
                ArrayRef<LLVM::GlobalOp> memory);

private:
  using Fields = SmallVector<std::pair<Type, std::function<Value()>>>;
  LLVM::GlobalOp emitStruct(const Twine &symbol, const Fields &fields, LLVM::Linkage linkage);
  LLVM::GlobalOp emitMemory(ArrayRef<LLVM::GlobalOp> memory);
  void emitText(const Twine &symbol, StringRef text);
  Value unpack(Value arguments, unsigned index);
  Value integer(Type type, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, type, builder.getIntegerAttr(type, value));
  }
  Value addressOf(StringRef symbol) { return LLVM::AddressOfOp::create(builder, loc, pointer, symbol); }
  std::array<int64_t, 3> triple(StringRef attribute);

  OpBuilder builder;
  ModuleOp module;
  LLVM::LLVMFuncOp kernel;
  std::string name;
  const DataLayout &layout;
  Location loc;
  Type pointer, i32, i64;
};

// Each thread gets its own copy of a by-value parameter, as on the GPU.
Value KernelEmitter::unpack(Value arguments, unsigned index) {
  constexpr unsigned alignment = 64;
  Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, arguments,
                                   ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  Value value = LLVM::LoadOp::create(builder, loc, pointer, slot);
  Attribute byValue = kernel.getArgAttr(index + 1, LLVM::LLVMDialect::getByValAttrName());
  Type type = kernel.getArgument(index + 1).getType();
  if (!byValue)
    return LLVM::LoadOp::create(builder, loc, type, value);
  Type held = cast<TypeAttr>(byValue).getValue();
  Value copy = LLVM::AllocaOp::create(builder, loc, pointer, held, integer(i32, 1), alignment);
  auto bytes = static_cast<int64_t>(layout.getTypeSize(held).getFixedValue());
  LLVM::MemcpyOp::create(builder, loc, copy, value, integer(i64, bytes), /*isVolatile=*/false);
  return copy;
}

LLVM::LLVMFuncOp KernelEmitter::emitEntry() {
  OpBuilder::InsertionGuard guard(builder);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {pointer});
  auto entry = LLVM::LLVMFuncOp::create(builder, loc, "adsim_kernel_" + name, type);
  builder.setInsertionPointToStart(entry.addEntryBlock(builder));
  auto self = module.lookupSymbol<LLVM::LLVMFuncOp>("adsim_self");
  SmallVector<Value> arguments{LLVM::CallOp::create(builder, loc, self, ValueRange{}).getResult()};
  for (unsigned index = 0; index + 1 < kernel.getNumArguments(); ++index)
    arguments.push_back(unpack(entry.getArgument(0), index));
  LLVM::CallOp::create(builder, loc, kernel, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange{});
  return entry;
}

LLVM::GlobalOp KernelEmitter::emitStruct(const Twine &symbol, const Fields &fields, LLVM::Linkage linkage) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types = llvm::map_to_vector(fields, [](const auto &field) { return field.first; });
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  auto global =
      LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true, linkage, symbol.str(), Attribute());
  builder.createBlock(&global.getInitializerRegion());
  Value value = LLVM::UndefOp::create(builder, loc, type);
  for (auto [index, field] : llvm::enumerate(fields))
    value = LLVM::InsertValueOp::create(builder, loc, value, field.second(), static_cast<int64_t>(index));
  LLVM::ReturnOp::create(builder, loc, value);
  return global;
}

LLVM::GlobalOp KernelEmitter::emitMemory(ArrayRef<LLVM::GlobalOp> memory) {
  Fields fields;
  for (LLVM::GlobalOp global : memory) {
    auto bytes = static_cast<int64_t>(layout.getTypeSize(global.getGlobalType()).getFixedValue());
    bool writable = !global.getConstant();
    std::string symbol = global.getName().str();
    fields.push_back({pointer, [=] { return addressOf(symbol); }});
    fields.push_back({i64, [=] { return integer(i64, bytes); }});
    fields.push_back({i64, [=] { return integer(i64, writable); }});
  }
  return emitStruct("adsim_memory_" + name, fields, LLVM::Linkage::Internal);
}

void KernelEmitter::emitText(const Twine &symbol, StringRef text) {
  std::string terminated = text.str() + '\0';
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), static_cast<unsigned>(terminated.size()));
  LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, symbol.str(),
                         builder.getStringAttr(terminated));
}

std::array<int64_t, 3> KernelEmitter::triple(StringRef attribute) {
  std::array<int64_t, 3> result{0, 0, 0};
  auto values = kernel->getAttrOfType<DenseI32ArrayAttr>(attribute);
  if (!values || values.empty())
    return result;
  result = {1, 1, 1};
  for (int64_t i = 0; i < std::min<int64_t>(3, values.size()); ++i)
    result[static_cast<size_t>(i)] = values[i];
  return result;
}

void KernelEmitter::emitCode(LLVM::LLVMFuncOp entry, const SharedLayout &shared, SiteTable &sites,
                             ArrayRef<LLVM::GlobalOp> memory) {
  auto [texts, offsets] = sites.emit(module);
  auto kind = kernel->getAttrOfType<StringAttr>(ad::kClassAttr);
  emitText("adsim_name_" + name, name);
  emitText("adsim_kind_" + name, kind ? kind.getValue() : "");
  LLVM::GlobalOp table = memory.empty() ? LLVM::GlobalOp() : emitMemory(memory);
  Fields fields;
  auto addPointer = [&](const std::string &symbol) {
    fields.push_back({pointer, [=] { return addressOf(symbol); }});
  };
  auto addInteger = [&](int64_t value) { fields.push_back({i32, [=] { return integer(i32, value); }}); };
  addPointer("adsim_name_" + name);
  addPointer(entry.getName().str());
  addPointer(texts.getName().str());
  addPointer(offsets.getName().str());
  if (table)
    addPointer(table.getName().str());
  else
    fields.push_back({pointer, [this]() -> Value { return LLVM::ZeroOp::create(builder, loc, pointer); }});
  addInteger(static_cast<int64_t>(sites.size()));
  addInteger(static_cast<int64_t>(memory.size()));
  auto own = shared.ofKernel.find(name);
  addInteger(static_cast<int64_t>(own == shared.ofKernel.end() ? shared.staticBytes : own->second));
  addInteger(static_cast<int64_t>(shared.localBytes));
  std::array<int64_t, 3> maxBlock = triple("nvvm.maxntid");
  addInteger(maxBlock[0] * maxBlock[1] * maxBlock[2]);
  for (int64_t size : triple("nvvm.reqntid"))
    addInteger(size);
  for (int64_t size : triple("nvvm.cluster_dim"))
    addInteger(size);
  addInteger(static_cast<int64_t>(kernel.getNumArguments()) - 1);
  auto registers = kernel->getAttrOfType<IntegerAttr>("nvvm.maxnreg");
  addInteger(registers ? registers.getInt() : 0);
  addPointer("adsim_kind_" + name);
  emitStruct("adsim_code_" + name, fields, LLVM::Linkage::External);
}

} // namespace

void mlir::ad::emulator::emitKernel(ModuleOp module, LLVM::LLVMFuncOp kernel, StringRef name,
                                    const SharedLayout &shared, SiteTable &sites,
                                    ArrayRef<LLVM::GlobalOp> memory, const DataLayout &layout) {
  KernelEmitter emitter(module, kernel, name, layout);
  emitter.emitCode(emitter.emitEntry(), shared, sites, memory);
}
