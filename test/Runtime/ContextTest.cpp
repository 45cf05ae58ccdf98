// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of the runtime through its C ABI, as compiled code uses it.
#include "adjoint/Runtime/Host/Context.h"
#include "ExpectText.h"
#include "adjoint/Runtime/Host/Symbols.h"
#include "adjoint/Support/Elements.h"
#include "adjoint/Support/SymbolName.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

static const adrt_site site = {"p.mlir:3:8", "ad.add"};

//===- Errors -------------------------------------------------------------===//

static std::string failure(int32_t kind, std::initializer_list<int64_t> values) {
  adrt_context context;
  int32_t status = adrt_fail(&context, &site, kind, values.begin(), static_cast<int32_t>(values.size()));
  EXPECT_EQ(status, ADRT_PROGRAM_ERROR);
  return context.getError().message;
}

TEST(Context, FailuresReadWell) {
  EXPECT_TEXT(failure(ADRT_FAIL_BROADCAST, {0, 2, 3}),
              "broadcast: dimension 0 has sizes 2 and 3, neither is 1");
  EXPECT_TEXT(failure(ADRT_FAIL_SAME_SIZE, {1, 4, 5}), "dimension 1 must have size 4, but has 5");
  EXPECT_TEXT(failure(ADRT_FAIL_BOUNDS, {0, 7, 5}), "dimension 0: index 7 is outside of size 5");
  EXPECT_TEXT(failure(ADRT_FAIL_NEGATIVE, {0, -1}), "dimension 0 has negative size -1");
  EXPECT_TEXT(failure(ADRT_FAIL_RESHAPE, {6, 8}), "reshape: 6 elements cannot become 8");
  EXPECT_TEXT(failure(ADRT_FAIL_DIVISION, {}), "divides by zero");
  EXPECT_TEXT(failure(ADRT_FAIL_CARRY, {0, 1, 3, 4}), "loop carry 0: dimension 1 changes from size 3 to 4");
  EXPECT_TEXT(failure(ADRT_FAIL_ARGUMENT, {0, 1, 3, 4}),
              "argument 0 must have size 3 in dimension 1, but has 4");
  EXPECT_TEXT(failure(ADRT_FAIL_ARGUMENT, {2, -1, 0, 9}),
              "argument 2 must have element type f64, but has i64");
  EXPECT_TEXT(failure(ADRT_FAIL_ARGUMENT, {2, -2, 1, 3}), "argument 2 must have rank 1, but has 3");
  EXPECT_TEXT(failure(99, {}), "unknown run-time error 99");
  EXPECT_TEXT(failure(ADRT_FAIL_BROADCAST, {}), "broadcast: dimension 0"); // too few values: no crash
}

TEST(Context, TheFirstErrorStays) {
  adrt_context context;
  int64_t values[] = {0, 2, 3};
  adrt_fail(&context, &site, ADRT_FAIL_BROADCAST, values, 3);
  EXPECT_EQ(adrt_arena(&context, -1), nullptr);
  EXPECT_EQ(context.getError().status, ADRT_PROGRAM_ERROR);
  EXPECT_EQ(context.getError().location, "p.mlir:3:8");
  EXPECT_EQ(context.getError().operation, "ad.add");
  context.run([] { return ADRT_OK; });
  EXPECT_EQ(context.getError().status, ADRT_OK);
}

//===- Memory -------------------------------------------------------------===//

TEST(Context, MemoryIsAlignedAndReused) {
  adrt_context context;
  void *first = nullptr, *again = nullptr;
  context.run([&] { return (first = adrt_arena(&context, 1000)) ? ADRT_OK : ADRT_HOST_ERROR; });
  context.run([&] { return (again = adrt_arena(&context, 900)) ? ADRT_OK : ADRT_HOST_ERROR; });
  EXPECT_TRUE(first);
  EXPECT_EQ(first, again);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0);
  EXPECT_EQ(context.getArenaBytes(), 1000);
  // A second block of one run does not change the first one.
  EXPECT_NE(adrt_arena(&context, 64), first);
  EXPECT_NE(adrt_arena(&context, 0), nullptr);
}

TEST(Context, MemoryRunsOutCleanly) {
  adrt_context context;
  EXPECT_EQ(adrt_arena(&context, INT64_MAX), nullptr);
  EXPECT_TEXT(context.getError().message,
              "not enough memory for the arena of intermediate tensors of unrepresentable size");
  EXPECT_EQ(context.getError().status, ADRT_TARGET_ERROR);
  adrt_site site = {"p.mlir:3:4", ""}, later = {"p.mlir:5:6", ""};
  EXPECT_EQ(adrt_require_allocated(&context, &site, &later), ADRT_OK);
  EXPECT_TRUE(context.getError().location.empty());
  EXPECT_EQ(adrt_require_allocated(&context, nullptr, &site), ADRT_TARGET_ERROR);
  EXPECT_EQ(adrt_require_allocated(&context, nullptr, &later), ADRT_TARGET_ERROR);
  EXPECT_TEXT(context.getError().location, "p.mlir:3:4"); // the first location stays
  adrt_context other;
  adrt_tensor result;
  int64_t huge[] = {INT64_MAX, 4}, negative[] = {-1};
  EXPECT_EQ(adrt_result(&other, &result, 0, ADRT_F32, 2, huge), nullptr);
  EXPECT_TEXT(other.getError().message, "not enough memory for a result of unrepresentable size");
  EXPECT_EQ(adrt_result(&other, &result, 0, ADRT_F32, 1, negative), nullptr);
  EXPECT_EQ(adrt_result(&other, &result, -1, ADRT_F32, 0, negative), nullptr);
  EXPECT_EQ(adrt_result(&other, &result, 0, 77, 0, negative), nullptr);
}

TEST(Context, BuffersAreReusedByNumber) {
  adrt_context context;
  void *large = adrt_buffer(&context, 3, 1000);
  EXPECT_TRUE(large);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large) % 64, 0);
  EXPECT_EQ(adrt_buffer(&context, 3, 10), large);
  EXPECT_NE(adrt_buffer(&context, 0, 10), large);
  EXPECT_GE(context.getArenaBytes(), 1010);
  EXPECT_EQ(adrt_buffer(&context, -1, 10), nullptr);
  EXPECT_TEXT(context.getError().message, "requests buffer -1");
}

TEST(Context, ResultsKeepTheirShape) {
  adrt_context context;
  adrt_tensor results[3];
  for (int32_t index = 0; index < 3; ++index) {
    int64_t shape[] = {index, 5};
    EXPECT_EQ(adrt_result(&context, &results[index], index, ADRT_F16, 2, shape), results[index].data);
  }
  EXPECT_EQ(results[1].shape[0], 1);
  EXPECT_EQ(results[2].shape[0], 2);
  EXPECT_EQ(results[2].shape[1], 5);
  EXPECT_EQ(results[2].type, ADRT_F16);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(results[2].data) % 64, 0);
}

//===- Checks -------------------------------------------------------------===//

static std::string check(int32_t kind, double tolerance, int32_t relative,
                         std::initializer_list<float> actual, std::initializer_list<float> expected) {
  adrt_context context;
  int64_t shape[] = {static_cast<int64_t>(actual.size())};
  adrt_tensor a = {const_cast<float *>(actual.begin()), shape, 1, ADRT_F32};
  adrt_tensor e = {const_cast<float *>(expected.begin()), shape, 1, ADRT_F32};
  int32_t status = adrt_check(&context, &site, kind, tolerance, relative, &a, expected.size() ? &e : nullptr);
  EXPECT_EQ(status == ADRT_OK, context.getError().message.empty());
  return status == ADRT_OK ? "ok" : context.getError().message;
}

TEST(Context, ChecksFindDifferences) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  EXPECT_TEXT(check(ADRT_CHECK_EQUAL, 0, 0, {1, nan, inf, -0.0f}, {1, -nan, inf, -0.0f}), "ok");
  EXPECT_TEXT(check(ADRT_CHECK_EQUAL, 0, 0, {0.0f}, {-0.0f}),
              "failed at [0]: got 0 (0x00000000), expected -0 (0x80000000)");
  EXPECT_TEXT(check(ADRT_CHECK_EQUAL, 0, 0, {1, 2, 5}, {1, 3, 9}),
              "failed at [1]: got 2 (0x40000000), expected 3 (0x40400000); largest difference 4 at [2]; 2 of "
              "3 elements differ");
  EXPECT_TEXT(check(ADRT_CHECK_ALMOST_EQUAL, 0.5, 0, {1, nan, inf}, {1.5, nan, inf}), "ok");
  EXPECT_TEXT(check(ADRT_CHECK_ALMOST_EQUAL, 0.01, 1, {100}, {101}), "ok");
  EXPECT_TEXT(check(ADRT_CHECK_ALMOST_EQUAL, 0.01, 0, {100}, {101}),
              "got 100, expected 101 within 0.01; largest difference 1");
  EXPECT_TEXT(check(ADRT_CHECK_ALMOST_EQUAL, 0.01, 1, {1e30f}, {inf}), "expected inf within 0.01 (relative)");
  EXPECT_TEXT(check(ADRT_CHECK_ALMOST_EQUAL, 1e30, 0, {1}, {inf}), "failed");
  EXPECT_TEXT(check(ADRT_CHECK_ALMOST_EQUAL, 1, 0, {nan}, {1}), "got nan, expected 1");
  EXPECT_TEXT(check(ADRT_CHECK_ALMOST_EQUAL, std::nan(""), 0, {1}, {2}), "failed");
  EXPECT_TEXT(check(ADRT_CHECK_FINITE, 0, 0, {1, 2}, {}), "ok");
  EXPECT_TEXT(check(ADRT_CHECK_FINITE, 0, 0, {1, inf, nan}, {}),
              "failed at [1]: got inf, expected a finite value; 2 of 3");
  EXPECT_TEXT(check(ADRT_CHECK_EQUAL, 0, 0, {1}, {}), "nothing to compare with");
  EXPECT_TEXT(check(42, 0, 0, {1}, {1}), "unknown kind of check 42");
}

TEST(Context, ChecksSeeAllBitsOfIntegers) {
  adrt_context context;
  int64_t a[] = {int64_t(1) << 60}, e[] = {(int64_t(1) << 60) + 1};
  adrt_tensor actual = {a, nullptr, 0, ADRT_I64}, expected = {e, nullptr, 0, ADRT_I64};
  EXPECT_EQ(adrt_check(&context, &site, ADRT_CHECK_EQUAL, 0, 0, &actual, &expected), ADRT_CHECK_FAILED);
  EXPECT_TEXT(context.getError().message,
              "failed at []: got 1152921504606846976, expected 1152921504606846977");
  EXPECT_EQ(adrt_check(&context, &site, ADRT_CHECK_ALMOST_EQUAL, 1, 0, &actual, &expected), ADRT_OK);
}

//===- Elements -----------------------------------------------------------===//

TEST(Context, SmallFloatsRoundTrip) {
  for (int32_t type : {ADRT_F16, ADRT_BF16, ADRT_F8E4M3FN, ADRT_F8E5M2}) {
    int width = static_cast<int>(adrt::elementSize(type));
    for (uint32_t bits = 0; bits < 1u << (8 * width); ++bits) {
      double value = adrt::loadAsDouble(type, &bits);
      uint32_t back = 0;
      adrt::storeFromDouble(type, value, &back);
      bool infinite = std::isinf(value) && width == 1; // 8-bit floats saturate
      ASSERT_TRUE(std::isnan(value) || infinite || back == bits) << "type " << type << ", bits " << bits;
    }
  }
  auto stored = [](int32_t type, double value) {
    uint16_t bits = 0;
    adrt::storeFromDouble(type, value, &bits);
    return bits;
  };
  EXPECT_EQ(stored(ADRT_F16, 65519.99), 0x7bff);
  EXPECT_EQ(stored(ADRT_F16, 65520), 0x7c00);
  EXPECT_EQ(stored(ADRT_F16, std::ldexp(1, -25)), 0);
  EXPECT_EQ(stored(ADRT_F16, std::ldexp(1.001, -25)), 1);
  EXPECT_EQ(stored(ADRT_BF16, 1e300), 0x7f80);
  EXPECT_EQ(stored(ADRT_BF16, 1.00390625), 0x3f80);
  EXPECT_EQ(stored(ADRT_F8E4M3FN, 1e9), 0x7e);
  EXPECT_EQ(stored(ADRT_F8E5M2, -1e300), 0xfb);
  EXPECT_EQ(stored(ADRT_I8, 300), 127);
  EXPECT_EQ(stored(ADRT_I8, std::nan("")), 0);
}

//===- Host ---------------------------------------------------------------===//

TEST(Context, HostCallbacksReportErrors) {
  adrt_context context;
  float data[1] = {0};
  adrt_tensor tensor = {data, nullptr, 0, ADRT_F32};
  EXPECT_EQ(adrt_feed(&context, &site, "x", &tensor), ADRT_HOST_ERROR);
  EXPECT_TEXT(context.getError().message, "feed 'x': the host feeds nothing");
  context.run([] { return ADRT_OK; });
  EXPECT_EQ(adrt_receive(&context, &site, "y", &tensor, 1), ADRT_OK);
  context.receive = [](const char *, const adrt_tensor *, int32_t, std::string &error) {
    error = "no space";
    return ADRT_HOST_ERROR;
  };
  EXPECT_EQ(adrt_receive(&context, &site, "y", &tensor, 1), ADRT_HOST_ERROR);
  EXPECT_TEXT(context.getError().message, "receive 'y': no space");
}

TEST(Context, ResultsCanBeTaken) {
  adrt_context context;
  int64_t shape[] = {3};
  adrt_tensor first, second;
  context.run(
      [&] { return adrt_result(&context, &first, 0, ADRT_I8, 1, shape) ? ADRT_OK : ADRT_HOST_ERROR; });
  adrt::Buffer taken = context.results.take(0);
  EXPECT_EQ(taken.data(), first.data);
  EXPECT_EQ(context.results.take(0).data(), nullptr);
  EXPECT_EQ(context.results.take(9).data(), nullptr);
  context.run(
      [&] { return adrt_result(&context, &second, 0, ADRT_I8, 1, shape) ? ADRT_OK : ADRT_HOST_ERROR; });
  EXPECT_TRUE(second.data);
  EXPECT_NE(second.data, taken.data());
}

TEST(Context, PollSeesTheInterrupt) {
  adrt_context context;
  EXPECT_EQ(adrt_poll(&context), ADRT_OK);
  bool flag = false;
  context.interrupted = [&] { return flag; };
  EXPECT_EQ(adrt_poll(&context), ADRT_OK);
  flag = true;
  EXPECT_EQ(adrt_poll(&context), ADRT_INTERRUPTED);
}

TEST(Context, KernelsAreTimed) {
  adrt_context context;
  for (int round = 0; round < 3; ++round) {
    adrt_kernel_begin(&context, 2);
    adrt_kernel_end(&context, 2);
  }
  adrt_kernel_end(&context, 7);
  adrt_kernel_begin(&context, -1);
  ASSERT_EQ(context.kernelTimes.get().size(), 3);
  EXPECT_EQ(context.kernelTimes.get()[2].calls, 3);
}

TEST(Context, SymbolsKeepLettersAndDigits) {
  EXPECT_EQ(adrt::symbolName("azAZ09_"), "azAZ09_");
  EXPECT_EQ(adrt::symbolName("`{@[/:"), "$60$7b$40$5b$2f$3a"); // next to them in ASCII
  EXPECT_EQ(adrt::symbolName("\xff "), "$ff$20");
  EXPECT_EQ(adrt::entrySymbol("a.b"), "adrt_entry_a$2eb");
}

TEST(Context, EveryServiceIsASymbol) {
  int services = 0;
  for (const adrt::Symbol &symbol : adrt::getSymbols()) {
    EXPECT_NE(symbol.address, nullptr);
    services += std::strncmp(symbol.name, "adrt_", 5) == 0;
  }
  EXPECT_EQ(services, 23);
}
