// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Compares gradients with finite differences.
#include "CheckGradients.h"
#include "adjoint/Numerics/Random.h"
#include "adjoint/Support/Elements.h"
#include "adjoint/Support/Error.h"

#include <cmath>

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;

namespace {

/// A relative difference between two difference quotients that only a kink explains, and not rounding.
constexpr double kinkThreshold = 1e-2;

class GradientChecker {
public:
  GradientChecker(const GradientProblem &problem, llvm::MutableArrayRef<Tensor> arguments,
                  const GradientCheckOptions &options)
      : problem(problem), arguments(arguments), options(options) {}

  Expected<GradientFinding> check(size_t argument, const Tensor &gradient);

private:
  struct Difference {
    double value = 0;
    bool kink = false;
  };

  std::vector<int64_t> chooseElements(int64_t count) const;
  Expected<double> evaluateAt(double &element, double value);
  Expected<Difference> differentiate(double &element, double scale);

  const GradientProblem &problem;
  llvm::MutableArrayRef<Tensor> arguments;
  const GradientCheckOptions &options;
};

double *elements(Tensor &tensor) { return reinterpret_cast<double *>(tensor.getData()); }
const double *elements(const Tensor &tensor) { return reinterpret_cast<const double *>(tensor.getData()); }

std::vector<int64_t> GradientChecker::chooseElements(int64_t count) const {
  std::vector<int64_t> chosen;
  if (count <= options.samples) {
    for (int64_t index = 0; index < count; ++index)
      chosen.push_back(index);
    return chosen;
  }
  // Stratified samples, one from each of equally long parts: no repetition and no clustering.
  for (int64_t part = 0; part < options.samples; ++part) {
    int64_t begin = count / options.samples * part;
    int64_t end = part + 1 == options.samples ? count : count / options.samples * (part + 1);
    double position = mlir::ad::numerics::uniformDoubleAt(options.seed, static_cast<uint64_t>(part));
    chosen.push_back(begin + static_cast<int64_t>(position * static_cast<double>(end - begin)));
  }
  return chosen;
}

Expected<double> GradientChecker::evaluateAt(double &element, double value) {
  double before = element;
  element = value;
  Expected<double> result = problem.evaluate(arguments);
  element = before;
  return result;
}

Expected<GradientChecker::Difference> GradientChecker::differentiate(double &element, double scale) {
  double x = element, h = options.step * std::max(1.0, std::fabs(x));
  double values[5];
  for (int step = -2; step <= 2; ++step) {
    Expected<double> value = evaluateAt(element, x + step * h / 2);
    if (!value)
      return value.takeError();
    values[step + 2] = *value;
  }
  double wide = (values[4] - values[0]) / (2 * h), narrow = (values[3] - values[1]) / h;
  double left = (values[2] - values[1]) / (h / 2), right = (values[3] - values[2]) / (h / 2);
  Difference difference;
  difference.value = (4 * narrow - wide) / 3;
  // At a kink the one-sided differences differ by the jump of the derivative. Elsewhere they differ by at
  // most the step times the curvature, which the two step sizes give as well.
  double size = std::max({scale, std::fabs(left), std::fabs(right)});
  double curvature = std::fabs((values[4] - 2 * values[2] + values[0]) / (h * h));
  double jump = std::fabs(right - left);
  difference.kink = std::fabs(wide - narrow) > kinkThreshold * size ||
                    (jump > kinkThreshold * size && jump > 1.5 * curvature * h / 2);
  return difference;
}

Expected<GradientFinding> GradientChecker::check(size_t argument, const Tensor &gradient) {
  Tensor &tensor = arguments[argument];
  GradientFinding finding;
  finding.name = argument < problem.names.size() ? problem.names[argument] : "arg" + std::to_string(argument);
  if (gradient.getType() != ADRT_F64 || tensor.getType() != ADRT_F64 ||
      gradient.getShape() != tensor.getShape())
    return exitError(ExitCheckFailed, "the gradient of '" + finding.name + "' is a " +
                                          formatType(gradient.getType(), gradient.getShape()) +
                                          ", expected a " + formatType(ADRT_F64, tensor.getShape()));
  double scale = 0;
  for (int64_t index = 0; index < gradient.getElementCount(); ++index)
    scale = std::max(scale, std::fabs(elements(gradient)[index]));
  for (int64_t index : chooseElements(tensor.getElementCount())) {
    Expected<Difference> difference = differentiate(elements(tensor)[index], scale);
    if (!difference)
      return difference.takeError();
    double got = elements(gradient)[index];
    double unit = std::max({scale, std::fabs(difference->value), 1e-6});
    double error = std::fabs(got - difference->value) / unit;
    bool holds = error <= options.tolerance; // false for a NaN
    if (!holds && difference->kink) {
      ++finding.skipped;
      continue;
    }
    ++finding.checked;
    finding.failed += !holds;
    if (finding.worstIndex >= 0 && !(error > finding.worst) && !std::isnan(error))
      continue;
    finding.worst = error;
    finding.worstIndex = index;
    finding.gradient = got;
    finding.difference = difference->value;
  }
  return finding;
}

} // namespace

Expected<std::vector<GradientFinding>>
mlir::ad::runner::checkGradients(const GradientProblem &problem, llvm::MutableArrayRef<Tensor> arguments,
                                 const GradientCheckOptions &options) {
  Expected<std::vector<Tensor>> gradients = problem.gradient(arguments);
  if (!gradients)
    return gradients.takeError();
  if (gradients->size() != problem.wrt.size())
    return exitError(ExitCheckFailed, "expected " + llvm::Twine(problem.wrt.size()) + " gradients, found " +
                                          llvm::Twine(gradients->size()));
  GradientChecker checker(problem, arguments, options);
  std::vector<GradientFinding> findings;
  for (auto [argument, gradient] : llvm::zip(problem.wrt, *gradients)) {
    Expected<GradientFinding> finding = checker.check(argument, gradient);
    if (!finding)
      return finding.takeError();
    findings.push_back(std::move(*finding));
  }
  return findings;
}

bool mlir::ad::runner::reportGradients(llvm::raw_ostream &os, llvm::ArrayRef<GradientFinding> findings) {
  bool correct = true;
  for (const GradientFinding &finding : findings) {
    os << "gradient of '" << finding.name << "': " << finding.checked << " elements checked";
    if (finding.skipped)
      os << ", " << finding.skipped << " skipped at kinks";
    os << llvm::format(", largest relative error %.2g", finding.worst);
    if (finding.failed)
      os << ", " << finding.failed << " wrong; at element " << finding.worstIndex
         << llvm::format(": got %.9g, differences give %.9g", finding.gradient, finding.difference);
    os << '\n';
    correct &= finding.failed == 0;
  }
  return correct;
}

Expected<Tensor> mlir::ad::runner::widenToF64(const Tensor &tensor) {
  if (!isFloat(tensor.getType()))
    return tensor.clone();
  Expected<Tensor> wide = Tensor::create(ADRT_F64, tensor.getShape());
  if (!wide)
    return wide;
  int64_t width = adrt::elementSize(tensor.getType());
  for (int64_t index = 0; index < tensor.getElementCount(); ++index)
    elements(*wide)[index] = adrt::loadAsDouble(tensor.getType(), tensor.getData() + index * width);
  return wide;
}
