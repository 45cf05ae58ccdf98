// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of the comparison of launches: a launch equals an earlier one only if all bytes of its grid and its
// arguments are equal, at any alignment and with any bytes around them.
#include "LoggingDevice.h"

#include <random>
#include <vector>

using namespace adrt;

namespace {

/// A launch with arguments of its own; all bytes are drawn from `seed`.
struct OwnedLaunch {
  struct alignas(ADRT_TENSOR_MAP_ALIGNMENT) Value {
    unsigned char bytes[ADRT_TENSOR_MAP_BYTES];
  };
  int32_t kernel;
  adrt_grid grid;
  std::vector<int32_t> widths;
  std::vector<Value> values;

  OwnedLaunch(int32_t kernel, std::vector<int32_t> widths, unsigned seed)
      : kernel(kernel), widths(std::move(widths)), values(this->widths.size()) {
    std::mt19937 draw(seed);
    auto fill = [&](void *data, size_t bytes) {
      for (size_t index = 0; index < bytes; ++index)
        static_cast<unsigned char *>(data)[index] = static_cast<unsigned char>(draw());
    };
    fill(&grid, sizeof grid);
    for (Value &value : values)
      fill(value.bytes, sizeof value.bytes);
  }

  /// Every byte that is compared.
  std::vector<unsigned char *> bytes() {
    std::vector<unsigned char *> all;
    for (size_t index = 0; index < sizeof grid; ++index)
      all.push_back(reinterpret_cast<unsigned char *>(&grid) + index);
    for (size_t number = 0; number < widths.size(); ++number)
      for (int32_t index = 0; index < widths[number]; ++index)
        all.push_back(values[number].bytes + index);
    return all;
  }

  template <class Use> auto with(Use use) {
    std::vector<void *> arguments;
    for (Value &value : values)
      arguments.push_back(value.bytes);
    return use(Launch{&sites[0], kernel, grid, arguments.data(), widths.data(),
                      static_cast<int32_t>(widths.size())});
  }
  std::string text() {
    return with([](const Launch &launch) { return LoggingDevice::describeBytes(launch); });
  }
};

/// The widths of arguments: each alone, each pair with a gap between its values, and random ones.
std::vector<std::vector<int32_t>> widthsOfKernels() {
  constexpr int32_t mapBytes = ADRT_TENSOR_MAP_BYTES;
  std::vector<std::vector<int32_t>> all = {{}};
  for (int32_t width : {1, 2, 4, 8, mapBytes}) {
    all.push_back({width});
    for (int32_t next : {1, 2, 4, 8, mapBytes})
      all.push_back({width, next});
  }
  std::mt19937 draw(1);
  for (int kernel = 0; kernel < 20; ++kernel) {
    auto &widths = all.emplace_back();
    for (unsigned count = 3 + draw() % 6; count > 0; --count)
      widths.push_back(draw() % 8 == 0 ? mapBytes : 1 << draw() % 4);
  }
  return all;
}

} // namespace

TEST(ReplayBytes, ListsCompareEveryByte) {
  unsigned seed = 0;
  for (const std::vector<int32_t> &widths : widthsOfKernels()) {
    OwnedLaunch launch(3, widths, ++seed), other(4, {8, 8}, seed + 1000);
    CommandList before;
    auto add = [](CommandList &list) { return [&](const Launch &one) { list.add(one); }; };
    for (OwnedLaunch *each : {&other, &launch, &other})
      each->with(add(before));
    for (unsigned char *byte : launch.bytes())
      for (unsigned char bit : {1, 128}) {
        *byte ^= bit;
        CommandList after, changed = before;
        for (OwnedLaunch *each : {&other, &launch, &other})
          each->with(add(after));
        EXPECT_TRUE(before.hasShapeOf(after));
        EXPECT_EQ(before.hashShape(), after.hashShape());
        EXPECT_TRUE(before.isSameAt(0, after));
        EXPECT_FALSE(before.isSameAt(1, after));
        EXPECT_TRUE(before.isSameAt(2, after));
        changed.updateAt(1, after);
        EXPECT_TRUE(changed.isSameAt(0, after));
        EXPECT_TRUE(changed.isSameAt(1, after));
        EXPECT_TRUE(changed.isSameAt(2, after));
        EXPECT_EQ(LoggingDevice::describeBytes(changed.launchAt(1)), launch.text());
        *byte ^= bit;
      }
  }
}

// In each iteration one byte differs from the iteration before the previous one: the graphs of alternating
// buffers differ in this byte and are updated.
TEST(ReplayBytes, ReplaysFollowEveryByte) {
  unsigned seed = 0;
  for (const std::vector<int32_t> &widths : widthsOfKernels()) {
    Fixture f;
    f.log.allBytes = true;
    OwnedLaunch launch(1, widths, ++seed), other(2, {8}, seed + 1000);
    auto iterate = [&] {
      std::string expected;
      for (OwnedLaunch *each : {&launch, &other}) {
        expected += each->text();
        EXPECT_TRUE(each->with([&](const Launch &one) { return f.device->launch(one); }).ok());
      }
      EXPECT_TRUE(f.device->submit().ok());
      EXPECT_EQ(f.done(), expected);
    };
    for (unsigned char *byte : launch.bytes()) {
      iterate();
      *byte ^= 1;
      iterate();
      iterate();
    }
    EXPECT_GE(f.device->getGraphCounts().updated + 4, launch.bytes().size());
  }
}
