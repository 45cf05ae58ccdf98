// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#include "adjoint/Builder/ProgramBuilder.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"
#include "adjoint/Interfaces/ElementwiseOpInterface.h"
#include "adjoint/Runner/Compile/Hooks.h"
#include "adjoint/Runner/StandardHooks.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
/// The properties of an operation that does not exist yet, from its attributes: type inference reads them.
class Properties {
public:
  Properties(OperationName name, DictionaryAttr attributes, function_ref<InFlightDiagnostic()> emitError)
      : name(name), memory(name.getOpPropertyByteSize()) {
    if (memory.empty())
      return;
    name.initOpProperties(get(), OpaqueProperties(nullptr));
    name.populateDefaultProperties(get());
    isRight = succeeded(name.setOpPropertiesFromAttribute(name, get(), attributes, emitError));
  }
  ~Properties() {
    if (!memory.empty())
      name.destroyOpProperties(get());
  }
  Properties(const Properties &) = delete;
  Properties &operator=(const Properties &) = delete;

  OpaqueProperties get() { return OpaqueProperties(memory.empty() ? nullptr : memory.data()); }
  explicit operator bool() const { return isRight; }

private:
  OperationName name;
  std::vector<char> memory; // aligned as new aligns
  bool isRight = true;
};
} // namespace

struct ProgramBuilder::State {
  /// A function or a region that operations are appended to.
  struct Frame {
    func::FuncOp function; ///< null for a region
    /// Holds the region at its place until its operation takes it, since verifiers look at what is around.
    /// Null for a function.
    scf::ExecuteRegionOp holder;
    Block *block;
  };

  State() : context(makeRegistry(), MLIRContext::Threading::DISABLED), builder(&context) {
    context.loadAllAvailableDialects();
    module = ModuleOp::create(builder, UnknownLoc::get(&context));
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    runner::standardHooks().registerDialects(registry);
    return registry;
  }

  bool fail(const Twine &message) {
    error = message.str();
    return false;
  }

  Location locationOf(const BuilderPlace &place) {
    Location location = UnknownLoc::get(&context);
    if (!place.file.empty())
      location = FileLineColLoc::get(&context, place.file, place.line, place.column);
    if (!place.name.empty())
      location = NameLoc::get(builder.getStringAttr(place.name), location);
    return location;
  }

  Type typeOf(const std::string &text) {
    Type &type = types[text];
    if (!type)
      type = parseType(text, &context);
    return type;
  }

  bool typesOf(const std::vector<std::string> &texts, SmallVectorImpl<Type> &result) {
    for (const std::string &text : texts) {
      Type type = typeOf(text);
      if (!type)
        return fail("'" + text + "' is no type");
      result.push_back(type);
    }
    return true;
  }

  Attribute attributeOf(const std::string &text) {
    Attribute &attribute = attributes[text];
    if (!attribute)
      attribute = parseAttribute(text, &context);
    return attribute;
  }

  bool valuesOf(const std::vector<uint32_t> &numbers, SmallVectorImpl<Value> &result) {
    for (uint32_t number : numbers) {
      if (number >= values.size() || !values[number])
        return fail("there is no value " + Twine(number));
      result.push_back(values[number]);
    }
    return true;
  }

  /// Takes the numbers from what is inside of an operation that goes.
  void forget(Operation *op) {
    for (Value &value : values)
      if (value && op->isAncestor(value.getParentBlock()->getParentOp()))
        value = nullptr;
  }

  uint32_t number(Value value) {
    values.push_back(value);
    return values.size() - 1;
  }

  bool fill(const BuilderOperation &operation, OperationState &result) {
    if (!result.name.isRegistered())
      return fail("there is no operation '" + operation.name + "'");
    SmallVector<Value> operands;
    if (!valuesOf(operation.operands, operands))
      return false;
    result.addOperands(operands);
    for (auto &[name, text] : operation.attributes) {
      Attribute attribute = attributeOf(text);
      if (!attribute)
        return fail("attribute '" + name + "': '" + text + "' is no attribute");
      result.addAttribute(name, attribute);
    }
    return true;
  }

  /// The types of the results as they are written, or as the operation infers them.
  bool addTypes(const BuilderOperation &operation, OperationState &result) {
    SmallVector<Type> types;
    if (!operation.types.empty()) {
      if (!typesOf(operation.types, types))
        return false;
      result.addTypes(types);
      return true;
    }
    auto *interface = result.name.getInterface<InferTypeOpInterface>();
    if (!interface)
      return true; // it has no results, or the verifier says that their types are missing
    DictionaryAttr dictionary = result.attributes.getDictionary(&context);
    Properties properties(result.name, dictionary, [&] { return emitError(result.location); });
    if (!properties ||
        failed(interface->inferReturnTypes(&context, result.location, result.operands, dictionary,
                                           properties.get(), result.regions, types)))
      return false;
    result.addTypes(types);
    return true;
  }

  Operation *append(const BuilderOperation &operation) {
    if (frames.empty()) {
      fail("an operation needs a function");
      return nullptr;
    }
    ScopedDiagnosticHandler handler(&context, [this](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error && error.empty())
        error = diagnostic.str();
      return success();
    });
    error.clear();
    OperationState result(locationOf(operation.place), operation.name);
    if (!fill(operation, result) || !addTypes(operation, result)) {
      drop(operation.regions);
      return nullptr;
    }
    if (operation.regions > finished.size()) {
      fail("'" + operation.name + "' takes " + Twine(operation.regions) + " regions, but there are " +
           Twine(finished.size()));
      drop(operation.regions);
      return nullptr;
    }
    for (scf::ExecuteRegionOp holder : llvm::ArrayRef(finished).take_back(operation.regions)) {
      result.addRegion()->takeBody(holder.getRegion());
      holder.erase();
    }
    finished.resize(finished.size() - operation.regions);
    OpBuilder at = OpBuilder::atBlockEnd(frames.back().block);
    Operation *op = at.create(result);
    if (succeeded(verify(op, /*verifyRecursively=*/false)))
      return op;
    forget(op);
    op->erase();
    return nullptr;
  }

  /// Gives up regions that have ended.
  void drop(unsigned count) {
    for (; count > 0 && !finished.empty(); --count) {
      forget(finished.back());
      finished.back().erase();
      finished.pop_back();
    }
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  std::vector<Frame> frames;
  std::vector<scf::ExecuteRegionOp> finished;
  std::vector<Value> values;
  llvm::StringMap<Type> types;
  llvm::StringMap<Attribute> attributes;
  std::string error;
};

ProgramBuilder::ProgramBuilder() : state(std::make_unique<State>()) {}
ProgramBuilder::~ProgramBuilder() = default;

const std::string &ProgramBuilder::getError() const { return state->error; }

bool ProgramBuilder::beginFunction(const std::string &name, bool isEntry,
                                   const std::vector<std::string> &types, const BuilderPlace &place,
                                   std::vector<uint32_t> &arguments) {
  SmallVector<Type> inputs;
  if (!state->typesOf(types, inputs))
    return false;
  if (state->module->lookupSymbol(name))
    return state->fail("there is a function '" + name + "' already");
  Location location = state->locationOf(place);
  auto function = func::FuncOp::create(location, name, state->builder.getFunctionType(inputs, {}));
  if (!isEntry)
    function.setPrivate();
  state->module->push_back(function);
  Block *block = function.addEntryBlock();
  state->frames.push_back({function, nullptr, block});
  for (Value argument : block->getArguments())
    arguments.push_back(state->number(argument));
  return true;
}

bool ProgramBuilder::addArgument(const std::string &text, const BuilderPlace &place, uint32_t &argument) {
  auto frame = llvm::find_if(llvm::reverse(state->frames), [](auto &frame) { return bool(frame.function); });
  if (frame == state->frames.rend())
    return state->fail("an argument needs a function");
  Type type = state->typeOf(text);
  if (!type)
    return state->fail("'" + text + "' is no type");
  func::FuncOp function = frame->function;
  unsigned index = function.getNumArguments();
  if (failed(function.insertArgument(index, type, {}, state->locationOf(place))))
    return state->fail("the function takes no further argument");
  argument = state->number(function.getArgument(index));
  return true;
}

static func::FuncOp findFunction(ModuleOp module, const std::string &name) {
  return module.lookupSymbol<func::FuncOp>(name);
}

bool ProgramBuilder::setArgumentAttribute(const std::string &function, unsigned index,
                                          const std::string &name, const std::string &text) {
  func::FuncOp op = findFunction(*state->module, function);
  Attribute attribute = state->attributeOf(text);
  if (!op || index >= op.getNumArguments() || !attribute)
    return state->fail("there is no such argument or attribute: " + function + ", " + text);
  op.setArgAttr(index, name, attribute);
  return true;
}

bool ProgramBuilder::setResultAttribute(const std::string &function, unsigned index, const std::string &name,
                                        const std::string &text) {
  func::FuncOp op = findFunction(*state->module, function);
  Attribute attribute = state->attributeOf(text);
  if (!op || index >= op.getNumResults() || !attribute)
    return state->fail("there is no such result or attribute: " + function + ", " + text);
  op.setResultAttr(index, name, attribute);
  return true;
}

bool ProgramBuilder::endFunction(const std::vector<uint32_t> &numbers, const BuilderPlace &place) {
  if (state->frames.empty() || !state->frames.back().function)
    return state->fail("no function has begun, or a region in it has not ended");
  SmallVector<Value> results;
  if (!state->valuesOf(numbers, results))
    return false;
  func::FuncOp function = state->frames.back().function;
  OpBuilder builder = OpBuilder::atBlockEnd(state->frames.back().block);
  func::ReturnOp::create(builder, state->locationOf(place), results);
  function.setFunctionType(
      builder.getFunctionType(function.getArgumentTypes(), TypeRange(ValueRange(results))));
  state->frames.pop_back();
  return true;
}

void ProgramBuilder::eraseFunction(const std::string &name) {
  func::FuncOp function = findFunction(*state->module, name);
  if (!function)
    return;
  while (llvm::any_of(state->frames, [&](auto &frame) { return frame.function == function; }))
    state->frames.pop_back();
  llvm::erase_if(state->finished, [&](scf::ExecuteRegionOp holder) { return function->isAncestor(holder); });
  state->forget(function);
  function.erase();
}

bool ProgramBuilder::beginRegion(const std::vector<std::string> &types, const BuilderPlace &place,
                                 std::vector<uint32_t> &arguments) {
  if (state->frames.empty())
    return state->fail("a region needs a function");
  SmallVector<Type> inputs;
  if (!state->typesOf(types, inputs))
    return false;
  OpBuilder builder = OpBuilder::atBlockEnd(state->frames.back().block);
  auto holder = scf::ExecuteRegionOp::create(builder, state->locationOf(place), TypeRange());
  Block *block = &holder.getRegion().emplaceBlock();
  SmallVector<Location> locations(inputs.size(), state->locationOf(place));
  block->addArguments(inputs, locations);
  for (Value argument : block->getArguments())
    arguments.push_back(state->number(argument));
  state->frames.push_back({nullptr, holder, block});
  return true;
}

bool ProgramBuilder::endRegion(const BuilderOperation &terminator) {
  if (state->frames.empty() || !state->frames.back().holder)
    return state->fail("no region has begun");
  // The terminator is verified with the operation that takes the region.
  OperationState result(state->locationOf(terminator.place), terminator.name);
  if (!state->fill(terminator, result))
    return false;
  OpBuilder::atBlockEnd(state->frames.back().block).create(result);
  state->finished.push_back(state->frames.back().holder);
  state->frames.pop_back();
  return true;
}

void ProgramBuilder::abandonRegion() {
  if (state->frames.empty() || !state->frames.back().holder)
    return;
  scf::ExecuteRegionOp holder = state->frames.back().holder;
  llvm::erase_if(state->finished, [&](scf::ExecuteRegionOp other) { return holder->isAncestor(other); });
  state->forget(holder);
  holder.erase();
  state->frames.pop_back();
}

void ProgramBuilder::dropRegions(unsigned count) { state->drop(count); }

bool ProgramBuilder::create(const BuilderOperation &operation, std::vector<uint32_t> &results) {
  Operation *op = state->append(operation);
  if (!op)
    return false;
  for (Value result : op->getResults())
    results.push_back(state->number(result));
  return true;
}

static bool collectOrigins(SizeAnalysis &analysis, Value tensor, int64_t axis,
                           std::vector<BuilderSize> &origins) {
  SizeOrigin origin = analysis.originOfSize(tensor, axis);
  if (!origin.value) {
    origins.push_back({origin.number, -1, -1});
    return true;
  }
  if (auto argument = dyn_cast<BlockArgument>(origin.value)) {
    origins.push_back({-1, argument.getArgNumber(), origin.dimension});
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  }
  Operation *op = origin.value.getDefiningOp();
  if (origin.dimension < 0 || !isa<ElementwiseOpInterface>(op))
    return false;
  int64_t rank = cast<RankedTensorType>(origin.value.getType()).getRank();
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    int64_t own = type ? origin.dimension - (rank - type.getRank()) : -1;
    return own < 0 || type.getDimSize(own) == 1 || collectOrigins(analysis, operand, own, origins);
  });
}

bool ProgramBuilder::findSize(uint32_t value, unsigned axis, std::vector<BuilderSize> &origins) const {
  SizeAnalysis analysis;
  return collectOrigins(analysis, state->values[value], axis, origins);
}

std::string ProgramBuilder::getType(uint32_t value) const {
  std::string text;
  if (value < state->values.size())
    llvm::raw_string_ostream(text) << state->values[value].getType();
  return text;
}

std::string ProgramBuilder::getText(bool withLocations) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  if (withLocations)
    flags.enableDebugInfo();
  state->module->print(stream, flags);
  stream << "\n";
  return text;
}
