// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The conversions of elements in the runtime agree with those of the numerics library.
#include "adjoint/Support/Elements.h"
#include "TestUtils.h"
#include "adjoint/Numerics/Casts.h"
#include "adjoint/Numerics/Random.h"

#include <cmath>
#include <cstring>

using namespace mlir::ad;

static numerics::ElementType elementType(int32_t type) { return static_cast<numerics::ElementType>(type); }

TEST(Elements, DecodeEverySmallValueAlike) {
  for (int32_t type : {ADRT_F16, ADRT_BF16, ADRT_F8E4M3FN, ADRT_F8E5M2, ADRT_I8})
    for (uint32_t bits = 0; bits < 1u << (8 * adrt::elementSize(type)); ++bits) {
      double ours = adrt::loadAsDouble(type, &bits), theirs = numerics::toDouble(elementType(type), bits);
      if (std::memcmp(&ours, &theirs, sizeof(ours)) != 0 && !(std::isnan(ours) && std::isnan(theirs)))
        FAIL() << adrt::typeName(type) << " " << bits;
    }
}

TEST(Elements, RoundAlike) {
  for (int32_t type = ADRT_F64; type <= ADRT_I64; ++type)
    for (uint64_t index = 0; index < 200000; ++index) {
      // All signs and exponents of all types, and larger ones.
      uint64_t random = numerics::philox4x32({static_cast<uint32_t>(index), 0, 0, 0}, {7, 0})[0];
      double magnitude =
          std::ldexp(1 + numerics::uniformDoubleAt(3, index), static_cast<int>(random % 340) - 170);
      double value = random & 0x80000000u ? -magnitude : magnitude;
      if (index % 5 == 0) // ties
        value = std::ldexp(std::nearbyint(std::ldexp(value, 8)), -8);
      uint64_t ours = 0;
      adrt::storeFromDouble(type, value, &ours);
      if (ours != numerics::fromDouble(elementType(type), value))
        FAIL() << adrt::typeName(type) << " of " << value << ": " << ours;
    }
}
