// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The operations that make NaNs and infinities, if a kernel writes other results than the interpreter
// computes from the same operands.
#include "TestUtils.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Reference/Reference.h"
#include "adjoint/Runner/Compile/Hooks.h"
#include "adjoint/Runner/StandardHooks.h"
#include "adjoint/Runner/Trace/NonFiniteFinder.h"
#include "adjoint/Runtime/Host/Context.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::ad::runner;

// The kernel goes on with its result 0, and ends with its result 1.
static constexpr const char *fused = R"(
func.func @main(%x: tensor<3xf32> {ad.name = "x"}) -> (tensor<3xf32>, tensor<3xf32>) {
  %0:2 = ad.fusion elementwise (%a = %x) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
    %h = ad.add %a, %a : tensor<3xf32>
    %y = ad.mul %h, %a : tensor<3xf32>
    ad.yield %h, %y : tensor<3xf32>, tensor<3xf32>
  }
  return %0#0, %0#1 : tensor<3xf32>, tensor<3xf32>
})";

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// An element that the kernel writes.
struct Written {
  size_t result;
  int64_t element;
  float value;
};

/// Gives fusions results of their own, as those of a run on a target are.
class KernelResults final : public ad::reference::Observer {
public:
  KernelResults(ad::reference::Observer &next, ArrayRef<Written> written) : next(next), written(written) {}

  int32_t replaceResults(Operation *op, MutableArrayRef<ad::reference::Tensor> results) override {
    if (!isa<ad::FusionOp>(op))
      return ADRT_OK;
    for (ad::reference::Tensor &result : results)
      result = ad::reference::Tensor::copyOf(result.view());
    for (const Written &change : written)
      results[change.result].data<float>()[change.element] = change.value;
    return ADRT_OK;
  }
  int32_t ran(Operation *op, ArrayRef<ad::reference::Tensor> operands,
              ArrayRef<ad::reference::Tensor> results) override {
    return next.ran(op, operands, results);
  }

private:
  ad::reference::Observer &next;
  ArrayRef<Written> written;
};

class NonFiniteOfKernels : public testing::Test {
protected:
  NonFiniteOfKernels() {
    DialectRegistry registry;
    standardHooks().registerDialects(registry);
    context.appendDialectRegistry(registry);
    module = parseSourceString<ModuleOp>(fused, &context);
  }

  void run(ArrayRef<double> x, ArrayRef<Written> written) {
    ASSERT_TRUE(module);
    mlir::ad::runner::Tensor argument = unit::tensor(ADRT_F32, {3}, x);
    KernelResults observer(finder, written);
    adrt_context host;
    std::vector<adrt_tensor> arguments{argument.view()}, results(2);
    EXPECT_EQ(
        host.run([&] { return ad::runReference(*module, "main", &host, arguments, results, &observer); }),
        ADRT_OK);
  }
  const NonFiniteOrigin &onlyOrigin() {
    static const NonFiniteOrigin none;
    EXPECT_EQ(finder.getOrigins().size(), 1u);
    return finder.getOrigins().empty() ? none : finder.getOrigins().front();
  }
  StringRef nameOf(const NonFiniteOrigin &origin) {
    return origin.op ? origin.op->getName().getStringRef() : "";
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  NonFiniteFinder finder;
};

} // namespace

TEST_F(NonFiniteOfKernels, NothingIsFoundInFiniteResults) {
  run({1, 2, 3}, {});
  EXPECT_TRUE(finder.getOrigins().empty());
  EXPECT_EQ(finder.getExecutions(), 2);
}

TEST_F(NonFiniteOfKernels, TheLastOperationOfAKernelIsJudgedByWhatTheKernelWrote) {
  run({1, 2, 3}, {{1, 2, infinity}});
  const NonFiniteOrigin &origin = onlyOrigin();
  EXPECT_EQ(nameOf(origin), "ad.mul");
  EXPECT_EQ(origin.kind, NonFinite::Infinity);
  EXPECT_EQ(origin.element, "[2]");
  ASSERT_EQ(origin.operands.size(), 2u);
  EXPECT_EQ(origin.operands[0].value, 6);
  EXPECT_EQ(origin.operands[1].value, 3);
  EXPECT_EQ(origin.result.infinities, 1);
}

TEST_F(NonFiniteOfKernels, AnInfinityOfTheInterpreterAloneIsNone) {
  run({1e30, 1, 1}, {{1, 0, 3e38F}});
  EXPECT_TRUE(finder.getOrigins().empty());
}

TEST_F(NonFiniteOfKernels, AKernelThatAloneMakesANaNIsNamed) {
  run({1, 2, 3}, {{0, 1, std::nanf("")}});
  const NonFiniteOrigin &origin = onlyOrigin();
  EXPECT_EQ(nameOf(origin), "ad.fusion");
  EXPECT_EQ(origin.kind, NonFinite::NaN);
  EXPECT_EQ(origin.element, "[1]");
  ASSERT_EQ(origin.operands.size(), 1u);
  EXPECT_EQ(origin.operands[0].range.max, 3);
}

TEST_F(NonFiniteOfKernels, AnInfinityThatTheKernelGoesOnWithIsFoundOnce) {
  run({3e38, 1, 1}, {});
  const NonFiniteOrigin &origin = onlyOrigin();
  EXPECT_EQ(nameOf(origin), "ad.add");
  EXPECT_EQ(origin.executions, 1);
  EXPECT_EQ(origin.operands[0].range.max, 3e38F);
}

TEST_F(NonFiniteOfKernels, AGivenInfinityIsNoOrigin) {
  run({infinity, 1, 2}, {});
  EXPECT_TRUE(finder.getOrigins().empty());
  ASSERT_EQ(finder.getGiven().size(), 1u);
  EXPECT_EQ(finder.getGiven()[0], "argument 'x': [1.0, inf], 1 of 3 infinite");
}
