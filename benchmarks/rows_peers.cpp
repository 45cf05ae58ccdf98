// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The peers of rows.py: row kernels in f32 as one writes them for a compiler that vectorises, and memcpy.
//   rows_peers KERNEL CALLS ROWS COLUMNS        prints seconds per call
#include "peers.h"
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>

using namespace peers;

namespace {

//===- Functions that a loop can be vectorised with -----------------------===//

/// e^x to about two units in the last place; libm's is a call for each element. A result below the normal
/// numbers is 0.
inline float exponential(float x) {
  x = std::fmin(std::fmax(x, -87.0f), 88.0f);
  float k = std::floor(x * 1.44269504f + 0.5f);
  float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  for (float coefficient :
       {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f})
    p = p * r + coefficient;
  int32_t bits = (static_cast<int32_t>(k) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return (p * r * r + r + 1.0f) * scale;
}

inline float hyperbolicTangent(float x) { return 1.0f - 2.0f / (exponential(2.0f * x) + 1.0f); }

/// Abramowitz and Stegun 7.1.26, off by at most 1.5e-7.
inline float errorFunction(float x) {
  float a = std::fabs(x), t = 1.0f / (1.0f + 0.3275911f * a), p = 1.061405429f;
  for (float coefficient : {-1.453152027f, 1.421413741f, -0.284496736f, 0.254829592f})
    p = p * t + coefficient;
  return std::copysign(1.0f - p * t * exponential(-a * a), x);
}

//===- Kernels ------------------------------------------------------------===//

struct Case {
  int64_t rows, columns;
  Memory input = makeNumbers(rows * columns), output = makeNumbers(rows * columns);
  Memory scale = makeNumbers(columns), bias = makeNumbers(columns);
};

void softmax(const float *__restrict x, float *__restrict y, int64_t columns) {
  float largest = x[0], sum = 0;
  for (int64_t i = 0; i < columns; ++i)
    largest = std::fmax(largest, x[i]);
  for (int64_t i = 0; i < columns; ++i)
    sum += y[i] = exponential(x[i] - largest);
  float factor = 1.0f / sum;
  for (int64_t i = 0; i < columns; ++i)
    y[i] *= factor;
}

void layerNorm(const float *__restrict x, const float *__restrict scale, const float *__restrict bias,
               float *__restrict y, int64_t columns) {
  float sum = 0, squares = 0;
  for (int64_t i = 0; i < columns; ++i)
    sum += x[i];
  float mean = sum / columns;
  for (int64_t i = 0; i < columns; ++i)
    squares += (x[i] - mean) * (x[i] - mean);
  float factor = 1.0f / std::sqrt(squares / columns + 1e-5f);
  for (int64_t i = 0; i < columns; ++i)
    y[i] = (x[i] - mean) * factor * scale[i] + bias[i];
}

void runSoftmax(const Case &of) {
  for (int64_t row = 0; row < of.rows; ++row)
    softmax(of.input.get() + row * of.columns, of.output.get() + row * of.columns, of.columns);
}

void runLayerNorm(const Case &of) {
  for (int64_t row = 0; row < of.rows; ++row)
    layerNorm(of.input.get() + row * of.columns, of.scale.get(), of.bias.get(),
              of.output.get() + row * of.columns, of.columns);
}

/// One function of each element.
template <typename Function> void runElements(const Case &of, Function function) {
  const float *__restrict x = of.input.get();
  float *__restrict y = of.output.get();
  for (int64_t i = 0; i < of.rows * of.columns; ++i)
    y[i] = function(x[i]);
}

void runGelu(const Case &of) {
  runElements(of, [](float x) { return 0.5f * x * (1.0f + errorFunction(0.70710678f * x)); });
}

void runGeluTanh(const Case &of) {
  runElements(of, [](float x) {
    return 0.5f * x * (1.0f + hyperbolicTangent(0.79788456f * (x + 0.044715f * x * x * x)));
  });
}

void runTanhChain(const Case &of) {
  runElements(of, [](float x) { return hyperbolicTangent(x * 0.5f + 0.25f) * x; });
}

/// By squares of 16 x 16, whose lines the caches hold.
void runTranspose(const Case &of) {
  const float *__restrict x = of.input.get();
  float *__restrict y = of.output.get();
  constexpr int64_t side = 16;
  for (int64_t row = 0; row < of.rows; row += side)
    for (int64_t column = 0; column < of.columns; column += side)
      for (int64_t j = column; j < std::min(column + side, of.columns); ++j)
        for (int64_t i = row; i < std::min(row + side, of.rows); ++i)
          y[j * of.rows + i] = x[i * of.columns + j];
}

void runMemcpy(const Case &of) {
  std::memcpy(of.output.get(), of.input.get(), of.rows * of.columns * sizeof(float));
}

const std::map<std::string, std::function<void(const Case &)>> kernels = {
    {"softmax", runSoftmax},    {"layer_norm", runLayerNorm}, {"gelu", runGelu},
    {"gelu_tanh", runGeluTanh}, {"tanh_chain", runTanhChain}, {"transpose", runTranspose},
    {"memcpy", runMemcpy}};

} // namespace

int main(int count, char **words) {
  if (count != 5 || !kernels.count(words[1]))
    return std::fprintf(stderr, "expected KERNEL CALLS ROWS COLUMNS\n"), 1;
  Case of{std::atoll(words[3]), std::atoll(words[4])};
  const auto &kernel = kernels.at(words[1]);
  // The calls end where the compiler cannot see whether the results are read.
  auto call = [&] {
    kernel(of);
    asm volatile("" : : "r"(of.output.get()) : "memory");
  };
  std::printf("%.17g\n", medianSeconds(std::atoi(words[2]), call));
  return 0;
}
