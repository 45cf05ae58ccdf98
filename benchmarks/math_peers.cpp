// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The peers of math-functions.py: libm in a loop over the elements, and SLEEF on vectors of AVX-512, in f32.
//   math_peers libm|sleef FUNCTION CALLS FILE…        one FILE of raw f32 for each argument; prints seconds
//   per call math_peers libm|sleef FUNCTION has                prints 1 when the library has the function,
//   else 0
#include "peers.h"
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
// Without AVX-512 there is nothing to compare on this machine.
#if defined(WITH_SLEEF) && defined(__AVX512F__)
#define HAS_SLEEF
#include <immintrin.h>
#include <sleef.h>
#endif

using namespace peers;

namespace {

/// Of n elements; y is the second argument of a function of two.
using Kernel = void (*)(const float *x, const float *y, float *result, int64_t n);

#define SCALAR(NAME, VALUE)                                                                                  \
  {NAME, [](const float *x, const float *y, float *result, int64_t n) {                                      \
     for (int64_t i = 0; i < n; ++i) {                                                                       \
       float a = x[i], b = y[i];                                                                             \
       (void)b;                                                                                              \
       result[i] = VALUE;                                                                                    \
     }                                                                                                       \
   }}

// clang-format off
const std::map<std::string, Kernel> libm = {
    SCALAR("exp", std::exp(a)),
    SCALAR("exp2", std::exp2(a)),
    SCALAR("expm1", std::expm1(a)),
    SCALAR("log", std::log(a)),
    SCALAR("log2", std::log2(a)),
    SCALAR("log1p", std::log1p(a)),
    SCALAR("sin", std::sin(a)),
    SCALAR("cos", std::cos(a)),
    SCALAR("tan", std::tan(a)),
    SCALAR("tanh", std::tanh(a)),
    SCALAR("sqrt", std::sqrt(a)),
    SCALAR("rsqrt", 1.0f / std::sqrt(a)),
    SCALAR("recip", 1.0f / a),
    SCALAR("erf", std::erf(a)),
    SCALAR("sigmoid", 1.0f / (1.0f + std::exp(-a))),
    SCALAR("silu", a / (1.0f + std::exp(-a))),
    SCALAR("softplus", std::fmax(a, 0.0f) + std::log1p(std::exp(-std::fabs(a)))),
    SCALAR("gelu", 0.5f * a * (1.0f + std::erf(0.70710678f * a))),
    SCALAR("gelu_tanh", 0.5f * a * (1.0f + std::tanh(0.79788456f * (a + 0.044715f * a * a * a)))),
    SCALAR("pow", std::pow(a, b)),
    SCALAR("atan2", std::atan2(a, b)),
};
// clang-format on

#ifdef HAS_SLEEF
#define VECTOR(NAME, ...)                                                                                    \
  {NAME, [](const float *x, const float *y, float *result, int64_t n) {                                      \
     for (int64_t i = 0; i < n; i += 16) {                                                                   \
       __m512 a = _mm512_loadu_ps(x + i), b = _mm512_loadu_ps(y + i);                                        \
       (void)b;                                                                                              \
       _mm512_storeu_ps(result + i, __VA_ARGS__);                                                            \
     }                                                                                                       \
   }}

// clang-format off
const std::map<std::string, Kernel> sleef = {
    VECTOR("exp", Sleef_expf16_u10avx512f(a)),
    VECTOR("exp2", Sleef_exp2f16_u10avx512f(a)),
    VECTOR("expm1", Sleef_expm1f16_u10avx512f(a)),
    VECTOR("log", Sleef_logf16_u10avx512f(a)),
    VECTOR("log2", Sleef_log2f16_u10avx512f(a)),
    VECTOR("log1p", Sleef_log1pf16_u10avx512f(a)),
    VECTOR("sin", Sleef_sinf16_u10avx512f(a)),
    VECTOR("cos", Sleef_cosf16_u10avx512f(a)),
    VECTOR("tan", Sleef_tanf16_u10avx512f(a)),
    VECTOR("tanh", Sleef_tanhf16_u10avx512f(a)),
    VECTOR("sqrt", Sleef_sqrtf16_u05avx512f(a)),
    VECTOR("erf", Sleef_erff16_u10avx512f(a)),
    VECTOR("pow", Sleef_powf16_u10avx512f(a, b)),
    VECTOR("atan2", Sleef_atan2f16_u10avx512f(a, b)),
};
// clang-format on
#else
const std::map<std::string, Kernel> sleef;
#endif

/// The numbers of a file; whole vectors of them.
int64_t read(const char *path, Memory &numbers) {
  std::FILE *file = std::fopen(path, "rb");
  if (!file || std::fseek(file, 0, SEEK_END))
    return -1;
  int64_t count = std::ftell(file) / static_cast<int64_t>(sizeof(float)) / 16 * 16;
  std::rewind(file);
  numbers = makeNumbers(count);
  if (std::fread(numbers.get(), sizeof(float), count, file) != static_cast<size_t>(count))
    count = -1;
  std::fclose(file);
  return count;
}

} // namespace

int main(int count, char **words) {
  if (count < 4)
    return std::fprintf(stderr, "expected LIBRARY FUNCTION CALLS FILE…\n"), 1;
  const std::map<std::string, Kernel> &functions = std::strcmp(words[1], "libm") ? sleef : libm;
  auto found = functions.find(words[2]);
  if (!std::strcmp(words[3], "has"))
    return std::printf("%d\n", found != functions.end()), 0;
  Memory x, y;
  int64_t elements = count > 4 ? read(words[4], x) : -1;
  if (found == functions.end() || elements < 0 || read(words[count - 1], y) != elements)
    return std::fprintf(stderr, "no such function, or no such file\n"), 1;
  Memory result = makeNumbers(elements);
  Kernel kernel = found->second;
  auto call = [&] {
    kernel(x.get(), y.get(), result.get(), elements);
    asm volatile("" : : "r"(result.get()) : "memory");
  };
  std::printf("%.17g\n", medianSeconds(std::atoi(words[3]), call));
  return 0;
}
