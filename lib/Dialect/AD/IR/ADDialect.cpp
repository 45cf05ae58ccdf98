// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The `ad` dialect: registration, constants, and the checks of its attributes on functions and modules.

#include "Attributes/NamedKernelAttribute.h"
#include "adjoint/Dialect/AD/IR/ADLaunchAttributes.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/ADPrecisionAttributes.h"
#include "adjoint/Dialect/AD/IR/FuseGroups.h"
#include "adjoint/Dialect/AD/IR/PassAttributes.h"
#include "adjoint/Support/Printable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::ad;

#include "adjoint/Dialect/AD/IR/ADDialect.cpp.inc"

namespace {
/// Functions are inlined before anything else happens to them, so every operation may move with its function.
struct ADInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override { return true; }
};
} // namespace

void ADDialect::initialize() {
  registerAttributes();
  registerTypes();
  registerElementwiseOps();
  registerCreationOps();
  registerShapeOps();
  registerIndexingOps();
  registerContractionOps();
  registerReductionOps();
  registerNNOps();
  registerControlOps();
  registerDifferentiationOps();
  registerKernelOps();
  registerMemoryOps();
  addInterfaces<ADInlinerInterface>();
}

Operation *ADDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (elements && isa<RankedTensorType>(type) && elements.getShapedType() == type)
    return ConstantOp::create(builder, loc, elements);
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

LogicalResult ad::verifyKnownAttributes(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    if (attribute.getName().getValue().contains('.'))
      continue;
    auto error = op->emitOpError("has no attribute '") << attribute.getName().getValue() << "'";
    SmallVector<StringRef> known;
    for (StringAttr name : op->getName().getAttributeNames())
      if (!name.getValue().ends_with("SegmentSizes"))
        known.push_back(name);
    if (known.empty())
      return error << "; it takes none without a dialect's prefix";
    error << ", expected one of ";
    llvm::interleaveComma(known, error);
    return error;
  }
  return success();
}

//===- Attributes with the prefix `ad.` -----------------------------------===//

// What passes write for later ones, on any operation.
static constexpr StringRef kPassAttributes[] = {
    "adrt.class",        "ad.inside_only", "ad.k",
    "adrt.kernel_names", "ad.nanoseconds", "ad.partial_reductions",
    "ad.launch_stages",  "ad.same_sizes",  "ad.sorted_runs",
    "ad.units"};

void ad::dropPassAttributes(Operation *program) {
  program->walk([](Operation *op) {
    for (StringRef name : kPassAttributes)
      op->removeDiscardableAttr(name);
  });
}

// `expected one of a, b`, and the one that was probably meant.
static InFlightDiagnostic expectNames(InFlightDiagnostic error, StringRef given, ArrayRef<StringRef> names) {
  error << ", expected " << (names.size() > 1 ? "one of " : "");
  llvm::interleaveComma(names, error);
  StringRef best;
  unsigned distance = given.size() / 3 + 1;
  for (StringRef name : names)
    if (unsigned current = given.edit_distance(name, /*AllowReplacements=*/true, distance);
        names.size() > 1 && current < distance) {
      distance = current;
      best = name;
    }
  if (!best.empty())
    error << "; did you mean '" << best << "'?";
  return error;
}

// The permission mma and the instruction had one name, before each got its own.
static constexpr StringLiteral kOldInstructionAttr = "ad.mma";

static bool isLinalgGeneric(Operation *op) { return op->getName().getStringRef() == "linalg.generic"; }

// A misspelt attribute would have no effect, in silence: the prefix is ours, so each name is known.
static LogicalResult verifyKnownName(Operation *op, StringRef name) {
  if (llvm::is_contained(kPassAttributes, name))
    return success();
  InFlightDiagnostic error = op->emitOpError("has no attribute '") << name << "'";
  if (name == kOldInstructionAttr)
    return error << "; an instruction is '" << kInstructionAttr << "', and the permission mma of a "
                 << "linalg.generic is in '" << kLinalgAllowAttr << "'";
  if (isa<ModuleOp, FunctionOpInterface>(op))
    return expectNames(std::move(error), name,
                       {ADDialect::kNumericsAttr, ADDialect::kAdjointNumericsAttr,
                        ADDialect::kCotangentSumsAttr, kPrecisionAttr});
  // `ad.allow` for `allow`
  StringRef bare = name;
  bare.consume_front("ad.");
  if (llvm::is_contained(op->getName().getAttributeNames(), bare))
    return error << "; did you mean '" << bare << "'?";
  return error << "; none of that prefix says anything about an operation";
}

// The attributes of contractions that a linalg.generic has, too.
static LogicalResult verifyInstruction(Operation *op, Attribute value) {
  if (!isa<DotOp, GemmOp>(op) && !isLinalgGeneric(op))
    return op->emitOpError("expected '") << kInstructionAttr << "' on ad.dot, ad.gemm or linalg.generic only";
  if (!isa<InstructionAttr>(value))
    return op->emitOpError("expected '")
           << kInstructionAttr << "' to be #ad.instruction<…>, but got " << value;
  return success();
}

static LogicalResult verifyLinalgAllow(Operation *op, Attribute value) {
  if (!isa<PermissionsAttr>(value))
    return op->emitOpError("expected '") << kLinalgAllowAttr << "' to be #ad.allow<…>, but got " << value;
  return success();
}

// Without the attribute cotangents are added in the type of their value.
static LogicalResult verifyCotangentSums(Operation *op, Attribute value) {
  if (value != TypeAttr::get(Float32Type::get(op->getContext())))
    return op->emitOpError("expected '")
           << ADDialect::kCotangentSumsAttr << "' to be the type f32, but got " << value;
  if (!isa<ModuleOp, FunctionOpInterface>(op))
    return op->emitOpError("expected '") << ADDialect::kCotangentSumsAttr << "' on a function or module only";
  return success();
}

LogicalResult ADDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kNumericsAttr || name == kAdjointNumericsAttr) {
    if (!isa<NumericsAttr>(attribute.getValue()))
      return op->emitOpError("expected '") << name << "' to be #ad.numerics<MODE>, such as "
                                           << "#ad.numerics<strict>, but got " << attribute.getValue();
    if (!isa<ModuleOp, FunctionOpInterface>(op))
      return op->emitOpError("expected '") << name << "' on a function or module only";
    return success();
  }
  if (name == kCotangentSumsAttr)
    return verifyCotangentSums(op, attribute.getValue());
  if (name == kPrecisionAttr)
    return verifyPrecisionAttribute(op, attribute);
  if (name == kFuseGroupAttr || name == kNoFuseAttr)
    return verifyFuseGroup(op, attribute);
  if (name == kNamedKernelAttr) {
    if (!isa<StringAttr>(attribute.getValue()) || op->getDialect() != this)
      return op->emitOpError("expected '")
             << name << "' to be a string on an operation of ad, but got " << attribute.getValue();
    return success();
  }
  if (name == kLaunchConfigAttr || name == kTensorMapsAttr)
    return verifyLaunchAttribute(op, attribute);
  if (name == kNameAttr || name == kDonatedAttr || name == kParameterAttr || name == kScalesAttr)
    return op->emitOpError("expected '") << name << "' on an argument or result of a function only";
  if (name == kInstructionAttr)
    return verifyInstruction(op, attribute.getValue());
  if (name == kLinalgAllowAttr && isLinalgGeneric(op))
    return verifyLinalgAllow(op, attribute.getValue());
  return verifyKnownName(op, name);
}

// Errors about an argument are reported where it is declared; a declaration without a body has one location
// for all.
static InFlightDiagnostic emitArgumentError(Operation *op, unsigned index) {
  Location loc = op->getLoc();
  if (op->getNumRegions() == 1 && !op->getRegion(0).empty() && index < op->getRegion(0).getNumArguments())
    loc = op->getRegion(0).getArgument(index).getLoc();
  return emitError(loc) << "'" << op->getName() << "' op ";
}

// Names of one list differ. The first value with a name compares all of them: were each compared with those
// before it, the thousands of arguments of a large program would take seconds in each pass.
static LogicalResult verifyDistinctNames(function_ref<InFlightDiagnostic(unsigned)> emitAt, unsigned index,
                                         unsigned count, StringRef kind,
                                         function_ref<Attribute(unsigned)> nameOf) {
  for (unsigned before = 0; before < index; ++before)
    if (nameOf(before))
      return success();
  llvm::DenseMap<Attribute, unsigned> owners;
  for (unsigned next = index; next < count; ++next) {
    Attribute name = nameOf(next);
    if (!name)
      continue;
    auto [owner, isNew] = owners.try_emplace(name, next);
    if (!isNew)
      return emitAt(next) << "expected distinct names, but " << kind << "s " << owner->second << " and "
                          << next << " are both named " << name;
  }
  return success();
}

// A name is a printable string, not empty.
static LogicalResult verifyName(function_ref<InFlightDiagnostic()> emit, Attribute value, unsigned index,
                                StringRef kind) {
  auto name = dyn_cast<StringAttr>(value);
  if (!name || name.empty())
    return emit() << "expected '" << ADDialect::kNameAttr << "' of " << kind << " " << index
                  << " to be a string that is not empty, but got " << value;
  if (!isPrintable(name.getValue()))
    return emit() << "expected '" << ADDialect::kNameAttr << "' of " << kind << " " << index
                  << " to have printable characters only, but got " << value;
  return success();
}

static LogicalResult verifyDonated(FunctionOpInterface function, unsigned argument, Attribute value) {
  auto emit = [&] { return emitArgumentError(function, argument); };
  auto integer = dyn_cast<IntegerAttr>(value);
  if (!integer || !integer.getType().isInteger(64)) {
    InFlightDiagnostic error = emit()
                               << "expected '" << ADDialect::kDonatedAttr << "' of argument " << argument
                               << " to be the number of the result that takes its memory, such as "
                               << ADDialect::kDonatedAttr << " = 0, but got ";
    if (isa<UnitAttr>(value))
      return error << "no value";
    return error << value;
  }
  int64_t result = integer.getInt(), count = function.getNumResults();
  if (result < 0 || result >= count)
    return emit() << "expected '" << ADDialect::kDonatedAttr << "' of argument " << argument
                  << " to name one of " << count << " results, but got " << result;
  Type from = function.getArgumentTypes()[argument], to = function.getResultTypes()[result];
  if (from != to)
    return emit() << "expected donated argument " << argument << " and result " << result
                  << " to have the same type, but got " << from << " and " << to;
  for (unsigned other = 0; other < argument; ++other)
    if (function.getArgAttr(other, ADDialect::kDonatedAttr) == value)
      return emit() << "expected result " << result << " to take one buffer, but arguments " << other
                    << " and " << argument << " are both donated to it";
  return success();
}

// A function has one argument with scales: three for each of its contractions.
static LogicalResult verifyScales(FunctionOpInterface function, unsigned index,
                                  function_ref<InFlightDiagnostic()> emit) {
  auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[index]);
  bool fits = type && type.getRank() == 2 && type.getElementType().isF32() && type.hasStaticShape() &&
              type.getDimSize(1) == 3;
  if (!fits)
    return emit() << "expected '" << kScalesAttr << "' on an argument of type tensor<Nx3xf32>, but got "
                  << function.getArgumentTypes()[index];
  for (unsigned other = 0; other < index; ++other)
    if (function.getArgAttr(other, kScalesAttr))
      return emit() << "expected '" << kScalesAttr << "' on one argument of a function, but got it on "
                    << other << " and " << index;
  return success();
}

LogicalResult ADDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                  NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  StringRef name = attribute.getName();
  auto emit = [&] { return emitArgumentError(op, index); };
  if (!function)
    return emit() << "expected '" << name << "' on an argument of a function only";
  if (name == kNameAttr)
    return success(succeeded(verifyName(emit, attribute.getValue(), index, "argument")) &&
                   succeeded(verifyDistinctNames(
                       [&](unsigned argument) { return emitArgumentError(op, argument); }, index,
                       function.getNumArguments(), "argument",
                       [&](unsigned argument) { return function.getArgAttr(argument, kNameAttr); })));
  if (name == kDonatedAttr)
    return verifyDonated(function, index, attribute.getValue());
  if (name == kParameterAttr) {
    if (isa<UnitAttr>(attribute.getValue()))
      return success();
    return emit() << "expected '" << name << "' without a value, but got " << attribute.getValue();
  }
  if (name == kScalesAttr)
    return verifyScales(function, index, emit);
  return expectNames(emit() << "argument " << index << " has no attribute '" << name << "'", name,
                     {kNameAttr, kDonatedAttr, kParameterAttr, kScalesAttr});
}

LogicalResult ADDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                     NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto emit = [&] { return op->emitOpError(); };
  if (function && attribute.getName() == kNameAttr)
    return success(succeeded(verifyName(emit, attribute.getValue(), index, "result")) &&
                   succeeded(verifyDistinctNames(
                       [&](unsigned) { return op->emitOpError(); }, index, function.getNumResults(), "result",
                       [&](unsigned result) { return function.getResultAttr(result, kNameAttr); })));
  StringRef name = attribute.getName();
  return expectNames(emit() << "result " << index << " has no attribute '" << name << "'", name, {kNameAttr});
}
