/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Approximations (`ex2.approx`, …), mapa, and the conversions of f16 that compiled code calls on CPUs without
   such instructions. The hardware's approximations have documented errors; here each is the f32 rounded from
   the double result of the host's library. */
#include "../Functions.h"
#include "../Memory/Access.h"
#include "../Numbers.h"

#include <cmath>

using namespace adsim;

static float flush(float value, uint32_t wanted) {
  return wanted && std::fabs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value;
}

/// An approximation of `function`, subnormals flushed on both sides if `ftz`.
template <typename Function> static float approximate(float value, uint32_t ftz, const Function &function) {
  return flush(static_cast<float>(function(static_cast<double>(flush(value, ftz)))), ftz);
}

float adsim_ex2_approx(Thread *, float value, uint32_t ftz) {
  return approximate(value, ftz, [](double x) { return std::exp2(x); });
}
float adsim_lg2_approx(Thread *, float value, uint32_t ftz) {
  return approximate(value, ftz, [](double x) { return std::log2(x); });
}
float adsim_rcp_approx(Thread *, float value, uint32_t ftz) {
  return approximate(value, ftz, [](double x) { return 1.0 / x; });
}
float adsim_rsqrt_approx(Thread *, float value, uint32_t ftz) {
  return approximate(value, ftz, [](double x) { return 1.0 / std::sqrt(x); });
}
float adsim_sqrt_approx(Thread *, float value, uint32_t ftz) {
  return approximate(value, ftz, [](double x) { return std::sqrt(x); });
}
float adsim_sin_approx(Thread *, float value, uint32_t ftz) {
  return approximate(value, ftz, [](double x) { return std::sin(x); });
}
float adsim_cos_approx(Thread *, float value, uint32_t ftz) {
  return approximate(value, ftz, [](double x) { return std::cos(x); });
}
float adsim_tanh_approx(Thread *, float value, uint32_t ftz) {
  return approximate(value, ftz, [](double x) { return std::tanh(x); });
}

uint32_t adsim_to_tf32(Thread *, float value, uint32_t even) {
  constexpr uint32_t dropped = 13, half = 1u << (dropped - 1), canonicalNaN = 0x7fffffff;
  uint32_t bits = bitsOfFloat(value);
  if (std::isnan(value))
    return canonicalNaN;
  uint32_t odd = bits >> dropped & 1;
  return (bits + half - (even ? 1 - odd : 0)) & ~((1u << dropped) - 1);
}

char *adsim_mapa(Thread *self, char *pointer, uint32_t rank, uint32_t site) {
  Worker &worker = *self->worker;
  Cta *cta = requireShared(*self, pointer, "the address", site, /*wholeCluster=*/true);
  if (cta && rank >= worker.ctas.size())
    worker.fail(Failure::InvalidInstruction, *self, site,
                "rank " + std::to_string(rank) + " of a cluster of " + std::to_string(worker.ctas.size()) +
                    " CTAs");
  if (worker.failed)
    worker.leave(*self);
  return worker.ctas[rank].shared + (pointer - cta->shared);
}

//===- Conversions of f16 -------------------------------------------------===//

#if defined(__FLT16_MAX__)
namespace {

_Float16 halfFromBits(uint16_t bits) {
  _Float16 value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// To f32 by rounding to odd, so that the next rounding is the only one.
float narrowToOdd(double value) {
  auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value) || std::isinf(nearest))
    return nearest;
  uint32_t bits = bitsOfFloat(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value))
    --bits;
  return floatFromBits(bits | 1);
}

} // namespace

_Float16 adsim_narrow_f32(float value) { return halfFromBits(toF16(value)); }
_Float16 adsim_narrow_f64(double value) { return halfFromBits(toF16(narrowToOdd(value))); }
float adsim_widen_f16(_Float16 value) {
  uint16_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return fromF16(bits);
}
#endif
