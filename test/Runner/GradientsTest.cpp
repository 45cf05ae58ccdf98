// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of the gradient check: it accepts correct gradients and finds wrong ones.
#include "../../lib/Runner/Session/CheckGradients.h"
#include "TestUtils.h"

#include <cmath>

using namespace mlir::ad::runner;

static const double *values(const Tensor &tensor) {
  return reinterpret_cast<const double *>(tensor.getData());
}

/// f(x) = Σ g(xᵢ) with the derivative d.
static GradientProblem sumOf(double (*g)(double), double (*d)(double)) {
  GradientProblem problem;
  problem.evaluate = [g](llvm::ArrayRef<Tensor> arguments) -> llvm::Expected<double> {
    double sum = 0;
    for (int64_t i = 0; i < arguments[0].getElementCount(); ++i)
      sum += g(values(arguments[0])[i]);
    return sum;
  };
  problem.gradient = [d](llvm::ArrayRef<Tensor> arguments) -> llvm::Expected<std::vector<Tensor>> {
    Tensor gradient = llvm::cantFail(arguments[0].clone());
    for (int64_t i = 0; i < gradient.getElementCount(); ++i)
      reinterpret_cast<double *>(gradient.getData())[i] = d(values(arguments[0])[i]);
    std::vector<Tensor> result;
    result.push_back(std::move(gradient));
    return std::move(result);
  };
  problem.wrt = {0};
  problem.names = {"x"};
  return problem;
}

static GradientFinding check(const GradientProblem &problem, llvm::ArrayRef<double> x) {
  std::vector<Tensor> arguments;
  arguments.push_back(unit::tensor(ADRT_F64, {static_cast<int64_t>(x.size())}, x));
  std::string before = unit::text(arguments[0].clone());
  return llvm::cantFail(checkGradients(problem, arguments)).front();
}

TEST(Gradients, RightOnesPass) {
  auto problem = sumOf([](double x) { return std::exp(x) * std::sin(x); },
                       [](double x) { return std::exp(x) * (std::sin(x) + std::cos(x)); });
  GradientFinding finding = check(problem, {-2, -0.3, 0, 0.7, 3});
  EXPECT_EQ(finding.checked, 5);
  EXPECT_EQ(finding.failed, 0);
  EXPECT_LT(finding.worst, 1e-8);
}

TEST(Gradients, WrongOnesFail) {
  auto sign = sumOf([](double x) { return x * x; }, [](double x) { return -2 * x; });
  EXPECT_EQ(check(sign, {1, 2}).failed, 2);
  auto slight = sumOf([](double x) { return x * x; }, [](double x) { return 2.0001 * x; });
  EXPECT_EQ(check(slight, {1, 2}).failed, 2);
  auto zero = sumOf([](double x) { return x; }, [](double) { return 0.0; });
  EXPECT_EQ(check(zero, {1}).failed, 1);
  auto nan = sumOf([](double x) { return x; }, [](double) { return std::nan(""); });
  EXPECT_EQ(check(nan, {1}).failed, 1);
}

TEST(Gradients, KinksAreSkipped) {
  auto relu = sumOf([](double x) { return x < 0 ? 0 : x; }, [](double x) { return x < 0 ? 0.0 : 1.0; });
  GradientFinding finding = check(relu, {-1, 0, 1e-5, 1});
  EXPECT_EQ(finding.skipped, 2);
  EXPECT_EQ(finding.checked, 2);
  EXPECT_EQ(finding.failed, 0);
}

TEST(Gradients, ReportNamesTheWorstElement) {
  auto wrong = sumOf([](double x) { return x * x * x; }, [](double x) { return x > 1 ? x * x : 3 * x * x; });
  std::string text;
  llvm::raw_string_ostream os(text);
  GradientFinding finding = check(wrong, {1, 2});
  EXPECT_FALSE(reportGradients(os, finding));
  EXPECT_TEXT(
      text, "gradient of 'x': 2 elements checked, largest relative error 0.67, 1 wrong; at element 1: got 4, "
            "differences give 12");
}
