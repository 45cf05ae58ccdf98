// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiles the code that emitElementary and emitCast emit, on scalars and vectors, and compares its results
// with the scalar values, bit for bit (a NaN equals any NaN).
#include "EmitJit.h"
#include "Samples.h"
#include "adjoint/Numerics/Casts.h"
#include "adjoint/Numerics/EmitCasts.h"
#include "adjoint/Numerics/EmitElementary.h"
#include "adjoint/Numerics/MLIRElementType.h"
#include "llvm/TargetParser/Host.h"
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

using namespace mlir;
using namespace mlir::ad::numerics;
using namespace mlir::ad::numerics::test;

namespace {

constexpr int laneCounts[] = {0, 16, 3};

struct Counts {
  int run = 0, failed = 0;
};

uint64_t readElement(const char *memory, ElementType type) {
  uint64_t bits = 0;
  std::memcpy(&bits, memory, sizeInBytes(type)); // little-endian hosts only, like all targets
  return bits;
}

bool sameElement(ElementType type, uint64_t a, uint64_t b) {
  return a == b || (isFloat(type) && std::isnan(toDouble(type, a)) && std::isnan(toDouble(type, b)));
}

/// One kernel against one scalar function over all inputs, `second` as long as `first`.
struct Comparison {
  std::string name;
  ElementType from, to;
  int lanes;
  std::function<uint64_t(uint64_t, uint64_t)> expected;

  bool run(Kernel kernel, const std::vector<uint64_t> &first, const std::vector<uint64_t> &second) const {
    int width = lanes ? lanes : 1, inSize = sizeInBytes(from), outSize = sizeInBytes(to);
    std::vector<char> left(width * inSize), right(width * inSize), result(width * outSize);
    for (size_t start = 0; start < first.size(); start += width) {
      for (int lane = 0; lane < width; ++lane) {
        size_t i = std::min(start + lane, first.size() - 1);
        std::memcpy(&left[lane * inSize], &first[i], inSize);
        std::memcpy(&right[lane * inSize], &second[i], inSize);
      }
      kernel(left.data(), right.data(), result.data());
      for (int lane = 0; lane < width; ++lane) {
        size_t i = std::min(start + lane, first.size() - 1);
        uint64_t wanted = expected(first[i], second[i]), found = readElement(&result[lane * outSize], to);
        if (!sameElement(to, wanted, found)) {
          std::printf("%s: of 0x%llx, 0x%llx expected 0x%llx, found 0x%llx\n", name.c_str(),
                      (unsigned long long)first[i], (unsigned long long)second[i], (unsigned long long)wanted,
                      (unsigned long long)found);
          return false;
        }
      }
    }
    return true;
  }
};

std::string kernelName(std::string_view what, ElementType from, ElementType to, int lanes) {
  return std::string(what) + "_" + std::string(elementTypeName(from)) + "_" +
         std::string(elementTypeName(to)) + "_" + std::to_string(lanes);
}

std::vector<Comparison> addElementary(EmitJit &jit) {
  std::vector<Comparison> comparisons;
  for (int f = 0; f < elementaryCount; ++f)
    for (ElementType type : {ElementType::F32, ElementType::F64})
      for (int lanes : laneCounts) {
        auto function = static_cast<Elementary>(f);
        std::string name = kernelName(elementaryName(function), type, type, lanes);
        jit.add(name, type, type, lanes, [=](OpBuilder &builder, Location loc, Value first, Value second) {
          ValueRange both[] = {ValueRange(first)};
          SmallVector<Value> pair = {first, second};
          return emitElementary(builder, loc, function, isBinary(function) ? ValueRange(pair) : both[0]);
        });
        comparisons.push_back(
            {name, type, type, lanes, [=](uint64_t x, uint64_t y) {
               if (type == ElementType::F64)
                 return fromDouble(type, evaluate(function, toDouble(type, x), toDouble(type, y)));
               return fromFloat(type, evaluate(function, toFloat(type, x), toFloat(type, y)));
             }});
      }
  return comparisons;
}

std::vector<Comparison> addApproximations(EmitJit &jit) {
  std::vector<Comparison> comparisons;
  for (int f = 0; f < elementaryCount; ++f)
    for (int lanes : laneCounts) {
      auto function = static_cast<Elementary>(f);
      ElementType type = ElementType::F32;
      if (!hasApproximation(function))
        continue;
      std::string name =
          kernelName("approximate_" + std::string(elementaryName(function)), type, type, lanes);
      jit.add(name, type, type, lanes, [=](OpBuilder &builder, Location loc, Value first, Value) {
        return emitApproximation(builder, loc, function, first);
      });
      comparisons.push_back({name, type, type, lanes, [=](uint64_t x, uint64_t) {
                               return fromFloat(type, evaluateApproximate(function, toFloat(type, x)));
                             }});
    }
  return comparisons;
}

void addCasts(EmitJit &jit, bool halfInstructions, std::vector<Comparison> &comparisons) {
  for (int f = 0; f < elementTypeCount; ++f)
    for (int t = 0; t < elementTypeCount; ++t)
      for (int lanes : laneCounts) {
        auto from = static_cast<ElementType>(f), to = static_cast<ElementType>(t);
        if (halfInstructions && from != ElementType::F16 && to != ElementType::F16)
          continue;
        std::string name = kernelName(halfInstructions ? "half_cast" : "cast", from, to, lanes);
        jit.add(name, from, to, lanes, [=](OpBuilder &builder, Location loc, Value first, Value) {
          return emitCast(builder, loc, first, toMLIRType(builder.getContext(), to), {halfInstructions});
        });
        comparisons.push_back(
            {name, from, to, lanes, [=](uint64_t x, uint64_t) { return castScalar(from, to, x); }});
      }
}

/// The instructions for f16 are compared where this machine has them.
std::vector<Comparison> addCasts(EmitJit &jit) {
  std::vector<Comparison> comparisons;
  addCasts(jit, /*halfInstructions=*/false, comparisons);
  if (llvm::sys::getHostCPUFeatures().lookup("f16c"))
    addCasts(jit, /*halfInstructions=*/true, comparisons);
  else
    std::printf("this machine has no F16C: its conversions are not compared\n");
  return comparisons;
}

/// Inputs of a type as bits: all of them up to 16 bits, else samples; for integers random ones of every
/// length.
std::vector<uint64_t> inputsOf(ElementType type, Stream &stream) {
  std::vector<uint64_t> inputs;
  int size = sizeInBytes(type);
  if (size <= 2) {
    for (uint64_t bits = 0; bits < (type == ElementType::I1 ? 2 : uint64_t(1) << (8 * size)); ++bits)
      inputs.push_back(bits);
  } else if (isFloat(type)) {
    for (double x : stratifiedValues(type, type == ElementType::F64 ? 2 : 8, stream))
      inputs.push_back(fromDouble(type, x));
  } else {
    for (int i = 0; i < 20000; ++i) {
      int64_t value = static_cast<int64_t>(stream.next()) >> (stream.next() % 64);
      // Powers of two, midpoints of adjacent values, and values near them test the rounding.
      if (i % 2)
        value =
            static_cast<int64_t>((uint64_t(1) << (i / 2 % 63)) + (uint64_t(1) << (i / 126 % 63))) + i % 3 - 1;
      inputs.push_back(castScalar(ElementType::I64, type, i % 4 < 2 ? uint64_t(value) : -uint64_t(value)));
    }
  }
  return inputs;
}

std::vector<uint64_t> shuffled(std::vector<uint64_t> values, Stream &stream) {
  for (size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[stream.next() % i]);
  return values;
}

void runAll(EmitJit &jit, const std::vector<Comparison> &comparisons, Counts &counts) {
  Stream stream(42);
  std::vector<uint64_t> first[elementTypeCount], second[elementTypeCount];
  for (int t = 0; t < elementTypeCount; ++t) {
    first[t] = inputsOf(static_cast<ElementType>(t), stream);
    second[t] = shuffled(first[t], stream);
  }
  for (const Comparison &comparison : comparisons) {
    int type = static_cast<int>(comparison.from);
    Kernel kernel = jit.lookup(comparison.name);
    ++counts.run;
    counts.failed += !kernel || !comparison.run(kernel, first[type], second[type]);
  }
}

} // namespace

int main() {
  EmitJit jit;
  std::vector<Comparison> comparisons = addElementary(jit);
  for (auto *add : {addApproximations, addCasts})
    for (Comparison &comparison : add(jit))
      comparisons.push_back(std::move(comparison));
  if (!jit.compile())
    return 1;
  Counts counts;
  runAll(jit, comparisons, counts);
  std::printf("emit: %d run, %d failed\n", counts.run, counts.failed);
  return counts.failed != 0;
}
