// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A dialect outside of Adjoint with an operation of each tier that is more than elementwise code or a sum of
// rows: loop nests with indices from data, accesses outside of their tensors and combiners of several values;
// ordered writes; and a named kernel, with code of its own for CPUs and for GPUs. Nothing in Adjoint knows
// them.

#include "adjoint/Codegen/Kernel/CPUKernelClass.h"
#include "adjoint/Codegen/Kernel/GPUKernelClass.h"
#include "adjoint/Codegen/Kernel/KernelFunctions.h"
#include "adjoint/Codegen/Kernel/WorkUnits.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/ScalarCode.h"
#include "adjoint/Interfaces/LoopNestOpInterface.h"
#include "adjoint/Interfaces/NamedKernelOpInterface.h"
#include "adjoint/Interfaces/OrderedWriteOpInterface.h"
#include "adjoint/Runner/Program.h"
#include "adjoint/Runner/Runner.h"
#include "adjoint/Runner/StandardHooks.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using utils::IteratorType;

namespace {
/// Traits of all operations: they have no effects, and Adjoint gives them kernels.
template <class OpT, template <class> class... Traits>
using ToyOp =
    Op<OpT, OpTrait::ZeroRegions, OpTrait::ZeroSuccessors, OpTrait::VariadicOperands,
       MemoryEffectOpInterface::Trait, ConditionallySpeculatable::Trait, OpTrait::AlwaysSpeculatableImplTrait,
       ad::NumericsOpInterface::Trait, ad::FusableOpInterface::Trait, Traits...>;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

//===- Loop nests -===//

/// `toy.lookup %table, %ids`: row ids[i] of the table for each i, and -1 in the rows whose number the table
/// lacks.
class LookupOp : public ToyOp<LookupOp, OpTrait::OneResult, ad::LoopNestOpInterface::Trait> {
public:
  using Op::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static StringRef getOperationName() { return "toy.lookup"; }
  void getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &) {}

  SmallVector<IteratorType> getLoops() { return {IteratorType::parallel, IteratorType::parallel}; }
  SmallVector<ad::ElementAccess> getAccesses() {
    Builder b(getContext());
    AffineExpr row = b.getAffineDimExpr(0), column = b.getAffineDimExpr(1), id = b.getAffineSymbolExpr(0);
    ad::ElementAccess table(AffineMap::get(2, 1, {id, column}, getContext()), /*indexOperands=*/{1},
                            ad::OutOfRange::value, b.getF32FloatAttr(-1));
    return {table, AffineMap::get(2, 0, row)};
  }
  SmallVector<AffineMap> getResultMaps() { return {AffineMap::getMultiDimIdentityMap(2, getContext())}; }
  SmallVector<Value> emitElement(OpBuilder &, Location, ValueRange scalars, ValueRange) {
    return {scalars[0]};
  }
};

/// `toy.blur %x, %w`: the sum of x[i, j + k - 1] * w[k] over k, where x is 0 outside.
class BlurOp : public ToyOp<BlurOp, OpTrait::OneResult, ad::LoopNestOpInterface::Trait> {
public:
  using Op::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static StringRef getOperationName() { return "toy.blur"; }
  void getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &) {}

  SmallVector<IteratorType> getLoops() {
    return {IteratorType::parallel, IteratorType::parallel, IteratorType::reduction};
  }
  SmallVector<ad::ElementAccess> getAccesses() {
    Builder b(getContext());
    AffineExpr i = b.getAffineDimExpr(0), j = b.getAffineDimExpr(1), k = b.getAffineDimExpr(2);
    ad::ElementAccess padded(AffineMap::get(3, 0, {i, j + k - 1}, getContext()), {}, ad::OutOfRange::value,
                             b.getF32FloatAttr(0));
    return {padded, AffineMap::get(3, 0, k)};
  }
  SmallVector<AffineMap> getResultMaps() {
    return {AffineMap::getMultiDimIdentityMap(3, getContext()).getMajorSubMap(2)};
  }
  SmallVector<Value> emitElement(OpBuilder &builder, Location loc, ValueRange scalars, ValueRange) {
    return {arith::MulFOp::create(builder, loc, scalars[0], scalars[1])};
  }
  SmallVector<Value> emitNeutral(OpBuilder &builder, Location loc) {
    return {ad::numberConstant(builder, loc, builder.getF32Type(), 0)};
  }
  SmallVector<Value> emitCombine(OpBuilder &builder, Location loc, ValueRange left, ValueRange right) {
    return {arith::AddFOp::create(builder, loc, left[0], right[0])};
  }
};

/// `toy.moments %x`: the mean and the variance of each row, by Welford's recurrence over the number of
/// elements, their mean and the sum of squared differences (Chan, Golub, LeVeque, 1983).
class MomentsOp : public ToyOp<MomentsOp, OpTrait::NResults<2>::Impl, ad::LoopNestOpInterface::Trait> {
public:
  using Op::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static StringRef getOperationName() { return "toy.moments"; }
  void getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &) {}

  SmallVector<IteratorType> getLoops() { return {IteratorType::parallel, IteratorType::reduction}; }
  SmallVector<ad::ElementAccess> getAccesses() {
    return {AffineMap::getMultiDimIdentityMap(2, getContext())};
  }
  SmallVector<AffineMap> getResultMaps() {
    return SmallVector<AffineMap>(2, AffineMap::get(2, 0, getAffineDimExpr(0, getContext())));
  }
  SmallVector<Value> emitElement(OpBuilder &builder, Location loc, ValueRange scalars, ValueRange) {
    ad::ScalarCode code{builder, loc};
    Type f32 = builder.getF32Type();
    return {code.constant(f32, 1), scalars[0], code.constant(f32, 0)};
  }
  SmallVector<Value> emitNeutral(OpBuilder &builder, Location loc) {
    return SmallVector<Value>(3, ad::numberConstant(builder, loc, builder.getF32Type(), 0));
  }
  SmallVector<Value> emitCombine(OpBuilder &builder, Location loc, ValueRange left, ValueRange right) {
    ad::ScalarCode code{builder, loc};
    auto add = [&](Value a, Value b) { return code.make<arith::AddFOp>({a, b}); };
    auto mul = [&](Value a, Value b) { return code.make<arith::MulFOp>({a, b}); };
    Value count = add(left[0], right[0]);
    Value difference = code.make<arith::SubFOp>({right[1], left[1]});
    Value share = code.make<arith::DivFOp>({right[0], count});
    Value mean = add(left[1], mul(difference, share));
    Value squares = mul(mul(difference, difference), mul(left[0], share));
    return {count, mean, add(add(left[2], right[2]), squares)};
  }
  SmallVector<Value> emitResults(OpBuilder &builder, Location loc, ValueRange last) {
    return {last[1], arith::DivFOp::create(builder, loc, last[2], last[0])};
  }
};

//===- Ordered writes -===//

/// `toy.add_rows %x, %ids, %rows`: x with rows[i] added to row ids[i] for each i in ascending order; rows
/// that x lacks are dropped.
class AddRowsOp : public ToyOp<AddRowsOp, OpTrait::OneResult, ad::OrderedWriteOpInterface::Trait> {
public:
  using Op::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static StringRef getOperationName() { return "toy.add_rows"; }
  void getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &) {}

  unsigned getDestination() { return 0; }
  unsigned getLoopCount() { return 2; }
  SmallVector<ad::ElementAccess> getAccesses() {
    Builder b(getContext());
    AffineExpr row = b.getAffineDimExpr(0), column = b.getAffineDimExpr(1), id = b.getAffineSymbolExpr(0);
    ad::ElementAccess written(AffineMap::get(2, 1, {id, column}, getContext()), /*indexOperands=*/{1},
                              ad::OutOfRange::drop);
    return {written, AffineMap::get(2, 0, row), AffineMap::getMultiDimIdentityMap(2, getContext())};
  }
  Value emitUpdate(OpBuilder &builder, Location loc, ValueRange scalars, ValueRange) {
    return arith::AddFOp::create(builder, loc, scalars[0], scalars[2]);
  }
};

//===- Named kernels -===//

/// `toy.polynomial %x`: ((x * 0.5 + 1) * x - 2) * x + 3, each product and sum rounded.
class PolynomialOp : public ToyOp<PolynomialOp, OpTrait::OneResult, OpTrait::SameOperandsAndResultType,
                                  ad::NamedKernelOpInterface::Trait> {
public:
  using Op::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static StringRef getOperationName() { return "toy.polynomial"; }
  void getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &) {}
  static constexpr double kFirst = 0.5, kOthers[] = {1, -2, 3};

  FailureOr<SmallVector<Value>> decompose(OpBuilder &builder) {
    Location loc = getLoc();
    Value x = getOperand(0), sum = ad::fullLike(builder, loc, x, kFirst);
    for (double coefficient : kOthers) {
      Value product = ad::MulOp::create(builder, loc, sum, x, nullptr);
      sum = ad::AddOp::create(builder, loc, product, ad::fullLike(builder, loc, x, coefficient), nullptr);
    }
    return SmallVector<Value>{sum};
  }
};

int emittedForCPU = 0, emittedForGPU = 0;

/// What both classes cover: one polynomial of an f32 tensor of static shape.
bool isPolynomial(ad::FusionOp fusion) {
  auto operations = fusion.getBody().front().without_terminator();
  if (!llvm::hasSingleElement(operations) || !isa<PolynomialOp>(*operations.begin()))
    return false;
  RankedTensorType type = typeOf(operations.begin()->getResult(0));
  return type.hasStaticShape() && type.getElementType().isF32();
}

/// A loop over elements that computes each from `in` into `out`: the code of both targets.
void emitElements(OpBuilder &builder, Location loc, Value in, Value out, Value first, Value end, Value step) {
  auto loop = scf::ForOp::create(builder, loc, first, end, step);
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  Type f32 = builder.getF32Type();
  Value offset = arith::IndexCastOp::create(inside, loc, builder.getI64Type(), loop.getInductionVar());
  auto at = [&](Value base) -> Value {
    return LLVM::GEPOp::create(inside, loc, base.getType(), f32, base, ArrayRef<LLVM::GEPArg>{offset});
  };
  ad::ScalarCode code{inside, loc};
  Value x = LLVM::LoadOp::create(inside, loc, f32, at(in));
  Value sum = code.constant(f32, PolynomialOp::kFirst);
  for (double coefficient : PolynomialOp::kOthers) {
    Value product = code.make<arith::MulFOp>({sum, x});
    sum = code.make<arith::AddFOp>({product, code.constant(f32, coefficient)});
  }
  LLVM::StoreOp::create(inside, loc, sum, at(out));
}

/// The same bits as the decomposition in a loop over elements.
struct PolynomialOnCPUs : ad::CPUKernelClass {
  PolynomialOnCPUs() : CPUKernelClass("toy-polynomial", /*benefit=*/10) {}
  bool covers(ad::FusionOp fusion) const override { return isPolynomial(fusion); }
  std::unique_ptr<ad::KernelPlan> matchOnCPU(ad::KernelOp, const ad::CPUTarget &,
                                             std::string &) const override {
    return std::make_unique<ad::KernelPlan>();
  }
  /// A function over a range of the elements, which are the units of its work.
  LogicalResult emit(ad::KernelOp kernel, const ad::KernelPlan &, const ad::CPUTarget &) const override {
    ++emittedForCPU;
    OpBuilder builder(kernel);
    Location loc = kernel.getLoc();
    Type index = builder.getIndexType();
    auto type = cast<RankedTensorType>(kernel.getResultTypes()[0]);
    func::FuncOp function = ad::defineHostFunction(kernel, "", {index, index}, {});
    ad::UnitSpace space;
    space.loops.push_back({llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())), /*step=*/1});
    function->setAttr(ad::kUnitsAttr, ad::unitsToAttribute(builder.getContext(), space));
    function->setAttr(ad::kNanosecondsAttr, builder.getI64IntegerAttr(type.getNumElements()));
    Block &entry = function.getBody().front();
    builder.setInsertionPointToEnd(&entry);
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    emitElements(builder, loc, entry.getArgument(0), entry.getArgument(1), entry.getArgument(2),
                 entry.getArgument(3), one);
    func::ReturnOp::create(builder, loc);
    return success();
  }
};

/// The same on GPUs: a thread computes each element that is a whole number of grids after its own.
struct PolynomialOnGPUs : ad::GPUKernelClass {
  PolynomialOnGPUs() : GPUKernelClass("toy-polynomial", /*benefit=*/10) {}
  bool covers(ad::FusionOp fusion) const override { return isPolynomial(fusion); }
  std::unique_ptr<ad::KernelPlan> matchOnGPU(ad::KernelOp, const ad::GPUTarget &,
                                             std::string &) const override {
    return std::make_unique<ad::KernelPlan>();
  }
  LogicalResult emit(ad::GPUFunctions &functions, const ad::KernelPlan &) const override {
    ++emittedForGPU;
    Location loc = functions.kernel.getLoc();
    auto type = cast<RankedTensorType>(functions.kernel.getResultTypes()[0]);
    gpu::GPUFuncOp function = functions.define();
    Block &entry = function.getBody().front();
    OpBuilder builder = OpBuilder::atBlockEnd(&entry);
    auto x = gpu::Dimension::x;
    Value threads = gpu::BlockDimOp::create(builder, loc, x);
    Value block = arith::MulIOp::create(builder, loc, gpu::BlockIdOp::create(builder, loc, x), threads);
    Value first = arith::AddIOp::create(builder, loc, block, gpu::ThreadIdOp::create(builder, loc, x));
    Value all = arith::MulIOp::create(builder, loc, gpu::GridDimOp::create(builder, loc, x), threads);
    Value end = arith::ConstantIndexOp::create(builder, loc, type.getNumElements());
    emitElements(builder, loc, entry.getArgument(0), entry.getArgument(1), first, end, all);
    ad::device::LaunchShape shape;
    shape.axes = type.getRank();
    functions.finish(function, shape, ad::RegisterLimit(), getName());
    functions.declare(function, shape);
    return success();
  }
};

//===- The program -===//

struct ToyInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};

class ToyDialect : public Dialect {
public:
  explicit ToyDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<ToyDialect>()) {
    addOperations<LookupOp, BlurOp, MomentsOp, AddRowsOp, PolynomialOp>();
    addInterfaces<ToyInliner>();
  }
  static StringRef getDialectNamespace() { return "toy"; }
};

/// Operations of `ad` stand between those of the dialect. The gradient is that of the polynomial's
/// decomposition.
constexpr const char *kProgram = R"(
func.func @loss(%x: tensor<5x12xf32>) -> tensor<f32> {
  %0 = "toy.polynomial"(%x) : (tensor<5x12xf32>) -> tensor<5x12xf32>
  %1 = ad.reduce_sum %0 axes [0, 1] : tensor<5x12xf32> -> tensor<f32>
  return %1 : tensor<f32>
}
func.func @main(%x: tensor<5x12xf32>, %ids: tensor<7xi32>, %w: tensor<3xf32>)
    -> (tensor<7x12xf32>, tensor<7xf32>, tensor<7xf32>, tensor<5x12xf32>, tensor<5x12xf32>, tensor<5x12xf32>) {
  %0 = "toy.lookup"(%x, %ids) : (tensor<5x12xf32>, tensor<7xi32>) -> tensor<7x12xf32>
  %1 = ad.mul %0, %0 : tensor<7x12xf32>
  %2 = "toy.blur"(%1, %w) : (tensor<7x12xf32>, tensor<3xf32>) -> tensor<7x12xf32>
  %3 = ad.neg %2 : tensor<7x12xf32>
  %mean, %variance = "toy.moments"(%3) : (tensor<7x12xf32>) -> (tensor<7xf32>, tensor<7xf32>)
  %4 = "toy.add_rows"(%x, %ids, %3) : (tensor<5x12xf32>, tensor<7xi32>, tensor<7x12xf32>) -> tensor<5x12xf32>
  %5 = "toy.polynomial"(%4) : (tensor<5x12xf32>) -> tensor<5x12xf32>
  %v, %g = ad.value_and_grad @loss(%x) wrt [0] : (tensor<5x12xf32>) -> (tensor<f32>, tensor<5x12xf32>)
  return %3, %mean, %variance, %4, %5, %g
      : tensor<7x12xf32>, tensor<7xf32>, tensor<7xf32>, tensor<5x12xf32>, tensor<5x12xf32>, tensor<5x12xf32>
}
)";

void registerDialects(DialectRegistry &registry) {
  ad::runner::standardHooks().registerDialects(registry);
  registry.insert<ToyDialect>();
  ad::registerKernelClass<PolynomialOnCPUs>(registry);
  ad::registerKernelClass<PolynomialOnGPUs>(registry);
}

bool runOn(const std::string &target) {
  ad::runner::Hooks hooks = ad::runner::standardHooks();
  hooks.registerDialects = registerDialects;
  ad::runner::ProgramOptions options;
  options.target = target;
  options.cache = "off";
  options.numerics = "reproducible";
  ad::runner::Failure failure;
  auto program =
      ad::runner::Program::compile(kProgram, "tiers.mlir", options, hooks, [] { return false; }, failure);
  int64_t shape[] = {5, 12}, rows[] = {7}, width[] = {3};
  std::vector<float> x(60), w{0.25, 0.5, 0.125};
  for (int i = 0; i < 60; ++i)
    x[i] = static_cast<float>(i * 37 % 101 - 50) / 32;
  std::vector<int32_t> ids{4, 0, 4, -1, 2, 9, 4};
  std::vector<adrt_tensor> arguments = {{x.data(), shape, /*rank=*/2, ADRT_F32},
                                        {ids.data(), rows, /*rank=*/1, ADRT_I32},
                                        {w.data(), width, /*rank=*/1, ADRT_F32}};
  std::vector<ad::runner::ProgramResult> results;
  if (!program || !program->run(arguments, {}, results, failure)) {
    llvm::errs() << target << ": " << failure.message << "\n";
    for (const ad::runner::Message &message : failure.diagnostics)
      llvm::errs() << message.severity << ": " << message.text << "\n";
    return false;
  }
  llvm::outs() << target << "\n";
  for (const ad::runner::ProgramResult &result : results) {
    for (int64_t i = 0, count = ShapedType::getNumElements(result.shape); i < count; ++i)
      llvm::outs() << llvm::format("%.9g ", static_cast<const float *>(result.data.data())[i]);
    llvm::outs() << "\n";
  }
  llvm::outs() << "emitted " << emittedForCPU << " " << emittedForGPU << "\n";
  return true;
}
} // namespace

MLIR_DECLARE_EXPLICIT_TYPE_ID(ToyDialect)
MLIR_DEFINE_EXPLICIT_TYPE_ID(ToyDialect)

int main() {
  for (const char *target : {"reference", "cpu", "gpu-sim"})
    if (!runOn(target))
      return 1;
  return 0;
}
