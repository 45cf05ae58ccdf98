// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A compiler outside of Adjoint with code of its own for kernels that it knows: here products of two
// tensors of f32, one class for CPUs and one for GPUs. Nothing in Adjoint knows them. Kernels that they do
// not cover are Adjoint's.

#include "adjoint/Codegen/Kernel/CPUKernelClass.h"
#include "adjoint/Codegen/Kernel/GPUKernelClass.h"
#include "adjoint/Codegen/Kernel/KernelFunctions.h"
#include "adjoint/Codegen/Kernel/WorkUnits.h"
#include "adjoint/Runner/Program.h"
#include "adjoint/Runner/Runner.h"
#include "adjoint/Runner/StandardHooks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace {
constexpr llvm::StringLiteral kProductClass = "toy-product";
/// How many kernels each class has emitted.
int emittedForCPU = 0, emittedForGPU = 0;

bool isProduct(ad::FusionOp fusion) {
  auto operations = fusion.getBody().front().without_terminator();
  return llvm::hasSingleElement(operations) && isa<ad::MulOp>(*operations.begin()) &&
         fusion.getInputs().size() == 2 && fusion.getInputs()[0].getType() == fusion.getInputs()[1].getType();
}

struct ProductPlan : ad::KernelPlan {
  explicit ProductPlan(int64_t elements) : elements(elements) {}
  SmallVector<Fact> facts() const override { return {{"elements", std::to_string(elements)}}; }
  int64_t elements;
};

/// The plan for one operation on two whole arguments of f32 with static sizes; null, and why, for others.
std::unique_ptr<ad::KernelPlan> matchProduct(ad::KernelOp kernel, std::string &reason) {
  auto type = dyn_cast<RankedTensorType>(kernel.getResultTypes()[0]);
  bool isPlain = type && type.hasStaticShape() && type.getElementType().isF32() &&
                 llvm::all_of(kernel.getArgumentTypes(), [&](Type other) { return other == type; });
  if (!isPlain) {
    reason = "its tensors are not all of one static type of f32";
    return nullptr;
  }
  return std::make_unique<ProductPlan>(type.getNumElements());
}

Value addressOf(OpBuilder &builder, Location loc, Block &entry, unsigned tensor, Value number) {
  Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), number);
  Value base = entry.getArgument(tensor);
  return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getF32Type(), base,
                             ArrayRef<LLVM::GEPArg>{offset});
}

/// Stores the product of the elements of that number.
void emitElement(OpBuilder &builder, Location loc, Block &entry, Value number) {
  auto load = [&](unsigned tensor) -> Value {
    return LLVM::LoadOp::create(builder, loc, builder.getF32Type(),
                                addressOf(builder, loc, entry, tensor, number));
  };
  Value product = arith::MulFOp::create(builder, loc, load(0), load(1));
  LLVM::StoreOp::create(builder, loc, product, addressOf(builder, loc, entry, 2, number));
}

void emitZero(OpBuilder &builder, Location loc, Block &entry, Value number) {
  Value zero = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  LLVM::StoreOp::create(builder, loc, zero, addressOf(builder, loc, entry, 2, number));
}

void emitLoop(OpBuilder &builder, Location loc, Block &entry, Value begin, Value end, Value step,
              function_ref<void(OpBuilder &, Location, Block &, Value)> code) {
  auto loop = scf::ForOp::create(builder, loc, begin, end, step);
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  code(inside, loc, entry, loop.getInductionVar());
}

/// Each element is a unit of work, and takes a nanosecond. Zeros are stored before the operands are read,
/// which is right only since `readsBeforeStoring` is false: no result has the memory of an operand.
struct CPUProducts : ad::CPUKernelClass {
  CPUProducts() : CPUKernelClass(kProductClass, /*benefit=*/10) {}
  bool covers(ad::FusionOp fusion) const override { return isProduct(fusion); }
  std::unique_ptr<ad::KernelPlan> matchOnCPU(ad::KernelOp kernel, const ad::CPUTarget &,
                                             std::string &reason) const override {
    return matchProduct(kernel, reason);
  }
  LogicalResult emit(ad::KernelOp kernel, const ad::KernelPlan &plan, const ad::CPUTarget &) const override {
    ++emittedForCPU;
    OpBuilder builder(kernel);
    Type index = builder.getIndexType();
    func::FuncOp function = ad::defineHostFunction(kernel, "", {index, index}, {});
    ad::UnitSpace space;
    int64_t rank = cast<RankedTensorType>(kernel.getResultTypes()[0]).getRank();
    space.loops.push_back({llvm::to_vector(llvm::seq<int64_t>(0, rank)), /*step=*/1});
    function->setAttr(ad::kUnitsAttr, ad::unitsToAttribute(builder.getContext(), space));
    function->setAttr(ad::kNanosecondsAttr,
                      builder.getI64IntegerAttr(static_cast<const ProductPlan &>(plan).elements));
    Block &entry = function.getBody().front();
    builder.setInsertionPointToEnd(&entry);
    Value one = arith::ConstantIndexOp::create(builder, kernel.getLoc(), 1);
    for (auto code : {emitZero, emitElement})
      emitLoop(builder, kernel.getLoc(), entry, entry.getArgument(3), entry.getArgument(4), one, code);
    func::ReturnOp::create(builder, kernel.getLoc());
    return success();
  }
};

/// A grid-stride loop: each iteration of a thread computes one element.
struct GPUProducts : ad::GPUKernelClass {
  GPUProducts() : GPUKernelClass(kProductClass, /*benefit=*/10) {}
  bool covers(ad::FusionOp fusion) const override { return isProduct(fusion); }
  std::unique_ptr<ad::KernelPlan> matchOnGPU(ad::KernelOp kernel, const ad::GPUTarget &,
                                             std::string &reason) const override {
    return matchProduct(kernel, reason);
  }
  LogicalResult emit(ad::GPUFunctions &functions, const ad::KernelPlan &plan) const override {
    ++emittedForGPU;
    Location loc = functions.kernel.getLoc();
    gpu::GPUFuncOp function = functions.define();
    Block &entry = function.getBody().front();
    OpBuilder builder = OpBuilder::atBlockEnd(&entry);
    auto x = gpu::Dimension::x;
    Value threads = gpu::BlockDimOp::create(builder, loc, x);
    Value block = arith::MulIOp::create(builder, loc, gpu::BlockIdOp::create(builder, loc, x), threads);
    Value first = arith::AddIOp::create(builder, loc, block, gpu::ThreadIdOp::create(builder, loc, x));
    Value all = arith::MulIOp::create(builder, loc, gpu::GridDimOp::create(builder, loc, x), threads);
    Value end = arith::ConstantIndexOp::create(builder, loc, static_cast<const ProductPlan &>(plan).elements);
    emitLoop(builder, loc, entry, first, end, all, emitElement);
    ad::device::LaunchShape shape;
    shape.axes = cast<RankedTensorType>(functions.kernel.getResultTypes()[0]).getRank();
    functions.finish(function, shape, ad::RegisterLimit(), getName());
    functions.declare(function, shape);
    return success();
  }
};

/// Covers contractions, and has code for none: Adjoint's class for them makes it.
struct NoDots : ad::GPUKernelClass {
  NoDots() : GPUKernelClass("toy-dot", /*benefit=*/11) {}
  bool covers(ad::FusionOp fusion) const override {
    auto operations = fusion.getBody().front().without_terminator();
    return llvm::hasSingleElement(operations) && isa<ad::DotOp>(*operations.begin());
  }
  std::unique_ptr<ad::KernelPlan> matchOnGPU(ad::KernelOp, const ad::GPUTarget &,
                                             std::string &reason) const override {
    reason = "it has no code";
    return nullptr;
  }
  LogicalResult emit(ad::GPUFunctions &, const ad::KernelPlan &) const override { return failure(); }
};

/// The product of f32 keeps its class: fusion asks the class, and leaves the operations around it in kernels
/// of their own. The product of f64 is Adjoint's, and so is the contraction, which has an instruction of
/// tensor cores.
constexpr const char *kProgram = R"(
func.func @main(%x: tensor<30x7xf32>, %y: tensor<30x7xf32>, %z: tensor<11xf64>, %b: tensor<16x16xbf16>)
    -> (tensor<7x30xf32>, tensor<11xf64>, tensor<16x16xbf16>) {
  %n = ad.neg %x : tensor<30x7xf32>
  %p = ad.mul %n, %y : tensor<30x7xf32>
  %0 = ad.transpose %p [1, 0] : tensor<30x7xf32>
  %1 = ad.mul %z, %z : tensor<11xf64>
  %2 = ad.dot %b, %b contract [1] x [0] : (tensor<16x16xbf16>, tensor<16x16xbf16>) -> tensor<16x16xbf16>
  return %0, %1, %2 : tensor<7x30xf32>, tensor<11xf64>, tensor<16x16xbf16>
}
)";

/// The bits of a small integer in bf16, and back.
uint16_t toBF16(float value) { return static_cast<uint16_t>(llvm::bit_cast<uint32_t>(value) >> 16); }
float fromBF16(uint16_t bits) { return llvm::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

void registerDialects(DialectRegistry &registry) {
  ad::runner::standardHooks().registerDialects(registry);
  ad::registerKernelClass<CPUProducts>(registry);
  ad::registerKernelClass<GPUProducts>(registry);
  ad::registerKernelClass<NoDots>(registry);
}

bool runOn(const std::string &target) {
  ad::runner::Hooks hooks = ad::runner::standardHooks();
  hooks.registerDialects = registerDialects;
  ad::runner::ProgramOptions options;
  options.target = target;
  options.cache = "off";
  ad::runner::Failure failure;
  auto program =
      ad::runner::Program::compile(kProgram, "classes.mlir", options, hooks, [] { return false; }, failure);
  int64_t shape[] = {30, 7}, length[] = {11}, square[] = {16, 16};
  std::vector<float> x(210), y(210);
  for (int i = 0; i < 210; ++i) {
    x[i] = static_cast<float>(i * 37 % 101 - 50) / 32;
    y[i] = static_cast<float>(i * 53 % 89 - 44) / 16;
  }
  std::vector<double> z(x.begin(), x.begin() + 11);
  std::vector<uint16_t> b(256);
  for (int i = 0; i < 256; ++i)
    b[i] = toBF16(static_cast<float>(i * 7 % 5 - 2));
  std::vector<adrt_tensor> arguments = {{x.data(), shape, /*rank=*/2, ADRT_F32},
                                        {y.data(), shape, /*rank=*/2, ADRT_F32},
                                        {z.data(), length, /*rank=*/1, ADRT_F64},
                                        {b.data(), square, /*rank=*/2, ADRT_BF16}};
  std::vector<ad::runner::ProgramResult> results;
  if (!program || !program->run(arguments, {}, results, failure)) {
    llvm::errs() << target << ": " << failure.message << "\n";
    for (const ad::runner::Message &message : failure.diagnostics)
      llvm::errs() << message.severity << ": " << message.text << "\n";
    return false;
  }
  llvm::outs() << target << "\n";
  for (int i = 0; i < 210; ++i)
    llvm::outs() << llvm::format("%.9g ", static_cast<const float *>(results[0].data.data())[i]);
  llvm::outs() << "\n";
  for (int i = 0; i < 11; ++i)
    llvm::outs() << llvm::format("%.17g ", static_cast<const double *>(results[1].data.data())[i]);
  llvm::outs() << "\n";
  for (int i = 0; i < 256; ++i)
    llvm::outs() << fromBF16(static_cast<const uint16_t *>(results[2].data.data())[i]) << " ";
  llvm::outs() << "\nemitted " << emittedForCPU << " " << emittedForGPU << "\n";
  return true;
}
} // namespace

int main() {
  for (const char *target : {"reference", "cpu", "gpu-sim"})
    if (!runOn(target))
      return 1;
  return 0;
}
