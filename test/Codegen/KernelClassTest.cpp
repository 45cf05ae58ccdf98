// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The registry of kernel classes: which class a cluster has, which plan a kernel gets, and what it costs by
// hand count.
#include "adjoint/Codegen/Kernel/CPUKernelClass.h"
#include "adjoint/Codegen/Kernel/GPUKernelClass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
/// Covers what no class of Adjoint for GPUs may have before it: everything.
struct Greedy : GPUKernelClass {
  Greedy() : GPUKernelClass("greedy", /*benefit=*/9) {}
  bool covers(FusionOp) const override { return true; }
  std::unique_ptr<KernelPlan> matchOnGPU(KernelOp, const GPUTarget &, std::string &reason) const override {
    reason = "it never runs";
    return nullptr;
  }
  LogicalResult emit(GPUFunctions &, const KernelPlan &) const override { return failure(); }
};
struct SecondRow : CPUKernelClass {
  SecondRow() : CPUKernelClass(kRowClass, /*benefit=*/9) {}
  bool covers(FusionOp) const override { return false; }
  std::unique_ptr<KernelPlan> matchOnCPU(KernelOp, const CPUTarget &, std::string &) const override {
    return nullptr;
  }
  LogicalResult emit(KernelOp, const KernelPlan &, const CPUTarget &) const override { return failure(); }
};

/// A context with the classes of Adjoint, and with the ones that `add` registers.
class KernelClassTest : public ::testing::Test {
protected:
  void load(llvm::function_ref<void(DialectRegistry &)> add = {}) {
    DialectRegistry registry;
    registry.insert<ADDialect, linalg::LinalgDialect, tensor::TensorDialect, arith::ArithDialect,
                    func::FuncDialect>();
    registerCPUKernelClasses(registry);
    registerGPUKernelClasses(registry);
    if (add)
      add(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// The kernel of a program with one.
  KernelOp parseKernel(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    return *module->getOps<KernelOp>().begin();
  }

  const KernelClassRegistry &classes() { return *KernelClassRegistry::get(&context); }
  GPUTarget gpu{*findChip("sm_80"), ""};

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

// The sum of the exponentials of each row of 8 x 32.
constexpr const char *kRows = R"(
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
ad.kernel @k(%x: tensor<8x32xf32>) -> tensor<8xf32> attributes {kernel_class = "CLASS"} {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<8x32xf32>
  %e = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x32xf32>) outs(%e0 : tensor<8x32xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.mulf %a, %a : f32
    %n = arith.negf %m : f32
    linalg.yield %n : f32
  } -> tensor<8x32xf32>
  %s0 = tensor.empty() : tensor<8xf32>
  %s1 = linalg.fill ins(%zero : f32) outs(%s0 : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : tensor<8x32xf32>) outs(%s1 : tensor<8xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %t = arith.addf %a, %sum : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  ad.yield %s : tensor<8xf32>
}
)";

std::string rowsOfClass(StringRef name) {
  std::string text = kRows;
  return text.replace(text.find("CLASS"), 5, name.str());
}
} // namespace

TEST_F(KernelClassTest, EachTargetHasTheEight) {
  load();
  for (TargetKind target : {TargetKind::cpu, TargetKind::gpu})
    for (StringRef name :
         {"contraction", "elementwise", "generic", "row", "scan", "scatter", "sort", "transposition"})
      EXPECT_NE(classes().find(name, target), nullptr) << name.str();
  EXPECT_NE(classes().find("attention", TargetKind::gpu), nullptr);
  EXPECT_EQ(classes().find("attention", TargetKind::cpu), nullptr); // loops, which other classes compute
  EXPECT_EQ(classes().names(), "attention, attention_grad, contraction, elementwise, generic, row, scan, "
                               "scatter, sort, transposition");
  EXPECT_FALSE(classes().isKnown("fast"));
  EXPECT_EQ(findTargetKind("cpu"), TargetKind::cpu);
  EXPECT_EQ(findTargetKind("tpu"), std::nullopt);
}

TEST_F(KernelClassTest, TheHighestBenefitThatCoversACluster) {
  load([](DialectRegistry &registry) { registerKernelClass<Greedy>(registry); });
  module = parseSourceString<ModuleOp>(R"(
    func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = ad.fusion elementwise (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
        %0 = ad.exp %a : tensor<4xf32>
        ad.yield %0 : tensor<4xf32>
      }
      return %y : tensor<4xf32>
    })",
                                       &context);
  ASSERT_TRUE(module);
  module->walk([&](FusionOp fusion) {
    EXPECT_EQ(classes().classOf(fusion, TargetKind::cpu)->getName(), "elementwise");
    EXPECT_EQ(classes().classOf(fusion, TargetKind::gpu)->getName(), "greedy");
  });
}

TEST_F(KernelClassTest, AKernelThatItsClassCannotRunIsGeneric) {
  load([](DialectRegistry &registry) { registerKernelClass<Greedy>(registry); });
  ChosenClass chosen = chooseKernelClass(parseKernel(rowsOfClass("greedy")), gpu);
  ASSERT_NE(chosen.kernelClass, nullptr);
  EXPECT_EQ(chosen.kernelClass->getName(), "generic");
  EXPECT_EQ(chosen.reason, "it never runs");
  // The class is registered for another target.
  CPUTarget cpu(/*lanes=*/8, *findTiles("small", 32), /*dotProducts=*/false);
  chosen = chooseKernelClass(parseKernel(rowsOfClass("greedy")), cpu);
  ASSERT_NE(chosen.kernelClass, nullptr);
  EXPECT_EQ(chosen.kernelClass->getName(), "generic");
  EXPECT_EQ(chosen.reason, "the target has no emitter for class greedy");
}

TEST_F(KernelClassTest, AKernelThatItsClassCannotRunHasTheNextThatCoversIt) {
  load([](DialectRegistry &registry) { registerKernelClass<Greedy>(registry); });
  KernelOp kernel = parseKernel(rowsOfClass("greedy"));
  kernel->setAttr(kOtherClassesAttr, Builder(&context).getStrArrayAttr({"contraction", "elementwise"}));
  ChosenClass chosen = chooseKernelClass(kernel, gpu);
  ASSERT_NE(chosen.kernelClass, nullptr);
  EXPECT_EQ(chosen.kernelClass->getName(), "elementwise");
  EXPECT_EQ(chosen.reason, "it never runs");
}

TEST_F(KernelClassTest, ResultsOfForeignKernelsHaveMemoryOfTheirOwn) {
  load([](DialectRegistry &registry) { registerKernelClass<Greedy>(registry); });
  EXPECT_FALSE(classes().readsBeforeStoring(parseKernel(rowsOfClass("greedy"))));
  EXPECT_TRUE(classes().readsBeforeStoring(parseKernel(rowsOfClass(kGenericClass))));
  KernelOp kernel = parseKernel(rowsOfClass(kRowClass));
  EXPECT_TRUE(classes().readsBeforeStoring(kernel));
  // A class that runs the kernel if the first one refuses.
  kernel->setAttr(kOtherClassesAttr, Builder(&context).getStrArrayAttr({"greedy"}));
  EXPECT_FALSE(classes().readsBeforeStoring(kernel));
}

TEST_F(KernelClassTest, NamesThatNobodyRegisteredAreErrors) {
  load();
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  EXPECT_EQ(chooseKernelClass(parseKernel(rowsOfClass("fast")), gpu).kernelClass, nullptr);
  EXPECT_NE(message.find("expected a registered kernel class, but got 'fast'"), std::string::npos) << message;
}

TEST_F(KernelClassTest, PlansPrint) {
  load();
  CPUTarget cpu(/*lanes=*/8, *findTiles("small", 32), /*dotProducts=*/false);
  ChosenClass chosen = chooseKernelClass(parseKernel(rowsOfClass("generic")), cpu);
  ASSERT_NE(chosen.plan, nullptr);
  std::string text;
  llvm::raw_string_ostream os(text);
  chosen.plan->print(os);
  EXPECT_EQ(text, "lanes=8");
  EXPECT_EQ(chosen.reason, "no other class covers it");
}

TEST_F(KernelClassTest, CostsAreCounts) {
  load();
  KernelOp kernel = parseKernel(rowsOfClass("row"));
  // 256 elements read, 8 written, of 4 bytes; two operations and one addition for each of the 256.
  std::optional<KernelCost> cost = costOfKernel(kernel);
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->bytes, 4 * (256 + 8));
  EXPECT_EQ(cost->operations, 2 * 256 + 256);
  // Each element is read once, so that nothing is computed again.
  EXPECT_EQ(costOfKernel(kernel, /*recomputes=*/true)->operations, 2 * 256 + 256);
}

TEST_F(KernelClassTest, ValuesThatAreReadAgainAreComputedAgain) {
  load();
  // Each of 8 x 8 elements adds two rows' sums of 32 elements.
  KernelOp kernel = parseKernel(R"(
    ad.kernel @k(%x: tensor<8x32xf32>) -> tensor<8x8xf32> attributes {kernel_class = "generic"} {
      %zero = arith.constant 0.0 : f32
      %s0 = tensor.empty() : tensor<8xf32>
      %s1 = linalg.fill ins(%zero : f32) outs(%s0 : tensor<8xf32>) -> tensor<8xf32>
      %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                           iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<8x32xf32>) outs(%s1 : tensor<8xf32>) {
      ^bb0(%a: f32, %sum: f32):
        %t = arith.addf %a, %sum : f32
        linalg.yield %t : f32
      } -> tensor<8xf32>
      %y0 = tensor.empty() : tensor<8x8xf32>
      %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>,
                                            affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
          ins(%s, %s : tensor<8xf32>, tensor<8xf32>) outs(%y0 : tensor<8x8xf32>) {
      ^bb0(%a: f32, %b: f32, %out: f32):
        %t = arith.addf %a, %b : f32
        linalg.yield %t : f32
      } -> tensor<8x8xf32>
      ad.yield %y : tensor<8x8xf32>
    })");
  EXPECT_EQ(costOfKernel(kernel)->operations, 8 * 32 + 64);
  EXPECT_EQ(costOfKernel(kernel, /*recomputes=*/true)->operations, 2 * 64 * 32 + 64);
  ChosenClass chosen = chooseKernelClass(kernel, gpu);
  EXPECT_EQ(chosen.kernelClass->cost(kernel, *chosen.plan)->operations, 2 * 64 * 32 + 64);
}

TEST_F(KernelClassTest, ResultsOfOneLoopAreComputedTogether) {
  load();
  // Only the second of two results is read: 16 steps of a negation and a product.
  KernelOp kernel = parseKernel(R"(
    #map = affine_map<(d0) -> (d0)>
    ad.kernel @k(%x: tensor<16xf32>) -> tensor<16xf32> attributes {kernel_class = "generic"} {
      %e = tensor.empty() : tensor<16xf32>
      %y:2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
          ins(%x : tensor<16xf32>) outs(%e, %e : tensor<16xf32>, tensor<16xf32>) {
      ^bb0(%a: f32, %p: f32, %q: f32):
        %n = arith.negf %a : f32
        %m = arith.mulf %a, %a : f32
        linalg.yield %n, %m : f32, f32
      } -> (tensor<16xf32>, tensor<16xf32>)
      ad.yield %y#1 : tensor<16xf32>
    })");
  EXPECT_EQ(costOfKernel(kernel)->operations, 32);
  EXPECT_EQ(costOfKernel(kernel, /*recomputes=*/true)->operations, 32);
}

TEST_F(KernelClassTest, DynamicSizesHaveNoCost) {
  load();
  EXPECT_EQ(costOfKernel(parseKernel(R"(
    ad.kernel @k(%x: tensor<?xf32>) -> tensor<?xf32> attributes {kernel_class = "generic"} {
      ad.yield %x : tensor<?xf32>
    })")),
            std::nullopt);
}

TEST_F(KernelClassTest, TwoClassesOfOneNameEndTheProgram) {
  EXPECT_DEATH(load([](DialectRegistry &registry) { registerKernelClass<SecondRow>(registry); }),
               "two kernel classes 'row' for target cpu");
}

TEST_F(KernelClassTest, RegisteredTwiceIsRegisteredOnce) {
  load([](DialectRegistry &registry) {
    registerKernelClass<Greedy>(registry);
    registerKernelClass<Greedy>(registry);
  });
  EXPECT_NE(classes().find("greedy", TargetKind::gpu), nullptr);
}
