// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of the runner as a library.
#include "adjoint/Runner/Program.h"
#include "TestUtils.h"
#include "adjoint/Runner/StandardHooks.h"

#include <atomic>
#include <thread>

using namespace mlir::ad::runner;

static constexpr const char *doubling = R"(
func.func @main(%x: tensor<?xf32> {ad.name = "x"}) -> (tensor<?xf32> {ad.name = "y"}) {
  %y = ad.add %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
})";

static constexpr const char *adding = R"(
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = ad.add %x, %y : tensor<?xf32>
  return %z : tensor<?xf32>
})";

static constexpr const char *counting = R"(
func.func @main() -> tensor<f32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %many = arith.constant 1000000000 : index
  %start = ad.feed "start" : tensor<f32>
  %end = scf.for %i = %zero to %many step %one iter_args(%count = %start) -> tensor<f32> {
    %next = ad.add %count, %start : tensor<f32>
    ad.receive "count"(%next) : tensor<f32>
    scf.yield %next : tensor<f32>
  }
  return %end : tensor<f32>
})";

static bool never() { return false; }

static std::unique_ptr<Program> compile(const char *source, Failure &failure, const char *target = "cpu") {
  ProgramOptions options;
  options.target = target;
  options.cache = "off";
  return Program::compile(source, "p.mlir", options, standardHooks(), never, failure);
}

static constexpr const char *targets[] = {"cpu", "reference"};

TEST(Program, RunsAndGivesResultsAway) {
  for (const char *target : targets) {
    Failure failure;
    std::unique_ptr<Program> program = compile(doubling, failure, target);
    ASSERT_TRUE(program);
    const ProgramValue &argument = program->getInterface().arguments.at(0);
    EXPECT_EQ(argument.name, "x");
    EXPECT_EQ(argument.type, ADRT_F32);
    EXPECT_EQ(argument.shape, std::vector<int64_t>{-1});
    EXPECT_EQ(program->getNumerics(), "strict");
    Tensor x = unit::tensor(ADRT_F32, {3}, {1, 2, 3});
    std::vector<ProgramResult> first, second;
    EXPECT_TRUE(program->run({x.view()}, {}, first, failure));
    EXPECT_TRUE(program->run({x.view()}, {}, second, failure));
    EXPECT_EQ(first.size(), 1);
    EXPECT_EQ(first[0].shape, std::vector<int64_t>{3});
    EXPECT_EQ(first[0].type, ADRT_F32);
    EXPECT_EQ(static_cast<float *>(first[0].data.data())[2], 6);
    EXPECT_NE(first[0].data.data(), second[0].data.data());
  }
}

TEST(Program, ResultsOwnTheirMemoryWhereAnArgumentIsDonated) {
  std::string source = doubling;
  source.replace(source.find("ad.name = \"x\""), 0, "ad.donated = 0, ");
  for (const char *target : targets) {
    Failure failure;
    std::unique_ptr<Program> program = compile(source.c_str(), failure, target);
    ASSERT_TRUE(program);
    Tensor x = unit::tensor(ADRT_F32, {3}, {1, 2, 3});
    std::vector<ProgramResult> results;
    EXPECT_TRUE(program->run({x.view()}, {}, results, failure));
    EXPECT_NE(results[0].data.data(), x.getData());
    EXPECT_EQ(static_cast<float *>(results[0].data.data())[2], 6);
    // The CPU writes the result over the argument; the reference interpreter overwrites nothing.
    EXPECT_EQ(*reinterpret_cast<const float *>(x.getData()), target == targets[0] ? 2 : 1);
  }
}

static float first(const Tensor &tensor) { return *reinterpret_cast<const float *>(tensor.getData()); }

TEST(Program, WritesResultsWhereTheCallerSays) {
  std::string donating = doubling;
  donating.replace(donating.find("ad.name = \"x\""), 0, "ad.donated = 0, ");
  for (const char *target : targets) {
    Failure failure;
    std::vector<ProgramResult> results;
    Tensor x = unit::tensor(ADRT_F32, {3}, {1, 2, 3}), out = unit::tensor(ADRT_F32, {3}, {0, 0, 0});
    std::unique_ptr<Program> program = compile(doubling, failure, target);
    EXPECT_TRUE(program->run({x.view()}, {}, results, failure, {out.view()}));
    EXPECT_FALSE(results[0].data.data());
    EXPECT_EQ(first(out), 2);
    EXPECT_EQ(first(x), 1);
    // The program reads the donated argument; on every target the output has the result at the end.
    program = compile(donating.c_str(), failure, target);
    EXPECT_TRUE(program->run({x.view()}, {}, results, failure, {x.view()}));
    EXPECT_FALSE(results[0].data.data());
    EXPECT_EQ(first(x), 2);
    EXPECT_TRUE(program->run({x.view()}, {}, results, failure, {out.view()}));
    EXPECT_FALSE(results[0].data.data());
    EXPECT_EQ(first(out), 4);
    Tensor large = unit::tensor(ADRT_F32, {4}, {0, 0, 0, 0});
    EXPECT_FALSE(program->run({x.view()}, {}, results, failure, {large.view()}));
    EXPECT_EQ(failure.reason, Failure::Reason::Output);
    EXPECT_EQ(failure.message, ("result 'y' has shape 3, but its output has shape 4"));
  }
}

/// Runs the program on device tensors; the result stays there.
static bool runOnDevice(const Program &program, const std::vector<adrt_tensor> &arguments,
                        ProgramResult &result, Failure &failure) {
  std::vector<ProgramResult> results;
  if (!program.run(arguments, {}, results, failure, {{nullptr, nullptr, 0, 0, ADRT_DEVICE_MEMORY}}))
    return false;
  result = std::move(results.at(0));
  return true;
}

TEST(Program, ResultsStayOnTheDevice) {
  Failure failure;
  std::string problem, source = doubling;
  source.replace(source.find("ad.name = \"x\""), 0, "ad.donated = 0, ");
  std::unique_ptr<Program> program = compile(doubling, failure, "gpu-sim"),
                           inPlace = compile(source.c_str(), failure, "gpu-sim");
  ASSERT_TRUE(program && inPlace);
  std::shared_ptr<adrt::DeviceHeap> heap = program->getDeviceHeap(problem);
  ASSERT_TRUE(heap) << problem;
  EXPECT_EQ(heap, inPlace->getDeviceHeap(problem));
  Tensor x = unit::tensor(ADRT_F32, {3}, {1, 2, 3});
  ProgramResult first, second, third, fourth;
  ASSERT_TRUE(runOnDevice(*program, {x.view()}, first, failure)) << failure.message;
  ASSERT_TRUE(first.onDevice);
  EXPECT_FALSE(first.data.data());
  adrt_tensor argument = {first.onDevice->getData(), first.shape.data(), 1, ADRT_F32, ADRT_DEVICE_MEMORY};
  adrt::TransferCounts before = adrt::getTransferCounts();
  ASSERT_TRUE(runOnDevice(*program, {argument}, second, failure));
  ASSERT_TRUE(runOnDevice(*inPlace, {argument}, third, failure));
  EXPECT_EQ(adrt::getTransferCounts().toDevice, before.toDevice);
  EXPECT_EQ(adrt::getTransferCounts().toHost, before.toHost);
  EXPECT_TRUE(second.onDevice && !second.isDonated);
  EXPECT_TRUE(third.isDonated && !third.onDevice);
  // A donated argument of the host is moved, and not written.
  ASSERT_TRUE(runOnDevice(*inPlace, {x.view()}, fourth, failure));
  ASSERT_TRUE(fourth.onDevice);
  for (const auto &[block, expected] :
       {std::pair(first.onDevice, 12.f), {second.onDevice, 12.f}, {fourth.onDevice, 6.f}}) {
    float elements[3];
    ASSERT_TRUE(heap->read(elements, *block, sizeof elements).ok());
    EXPECT_EQ(elements[2], expected);
  }
  EXPECT_EQ(*reinterpret_cast<const float *>(x.getData()), 1);
  program = nullptr;
  inPlace = nullptr;
  EXPECT_EQ(heap->getIdleBytes(), 0);
}

TEST(Program, RefusesDeviceMemoryOfOthers) {
  for (const char *target : {"cpu", "reference", "gpu-sim"}) {
    Failure failure;
    std::string problem;
    std::unique_ptr<Program> program = compile(doubling, failure, target);
    ASSERT_TRUE(program);
    bool hasDevice = std::string(target) == "gpu-sim";
    EXPECT_EQ(program->getDeviceHeap(problem) != nullptr, hasDevice);
    Tensor x = unit::tensor(ADRT_F32, {3}, {1, 2, 3});
    adrt_tensor argument = x.view();
    argument.memory = ADRT_DEVICE_MEMORY; // it is not
    std::vector<ProgramResult> results;
    EXPECT_FALSE(program->run({argument}, {}, results, failure));
    EXPECT_EQ(failure.message,
              hasDevice ? "argument 0 in device memory: it is not in the memory of the emulated GPU"
                        : "target '" + std::string(target) + "' has no device memory");
    EXPECT_EQ(failure.reason, hasDevice ? Failure::Reason::Host : Failure::Reason::Target);
  }
}

TEST(Program, UsesTheMemoryOfDeadResultsAgain) {
  for (const char *target : targets) {
    Failure failure;
    std::unique_ptr<Program> program = compile(doubling, failure, target);
    Tensor x = unit::tensor(ADRT_F32, {3}, {1, 2, 3});
    std::vector<ProgramResult> results;
    EXPECT_TRUE(program->run({x.view()}, {}, results, failure));
    void *memory = results[0].data.data();
    Program::Recycler recycle = program->getRecycler();
    recycle(0, std::move(results[0].data));
    EXPECT_TRUE(program->run({x.view()}, {}, results, failure));
    EXPECT_EQ(results[0].data.data(), memory);
    program.reset();
    recycle(0, std::move(results[0].data)); // to nobody
    EXPECT_FALSE(results[0].data.data());
  }
}

TEST(Program, ReportsErrorsOfTheSource) {
  Failure failure;
  EXPECT_FALSE(compile("func.func @main() {\n  %x = ad.nothing : tensor<f32>\n}", failure));
  EXPECT_EQ(failure.reason, Failure::Reason::Source);
  EXPECT_EQ(failure.diagnostics.size(), 1);
  const Message &message = failure.diagnostics.at(0);
  EXPECT_EQ(message.severity, "error");
  EXPECT_EQ(message.file, "p.mlir");
  EXPECT_EQ(message.line, 2);
  EXPECT_EQ(message.column, 8);
  EXPECT_TEXT(message.text, "ad.nothing");
}

TEST(Program, ReportsWrongOptions) {
  Failure failure;
  EXPECT_FALSE(compile(doubling, failure, "gpu"));
  EXPECT_EQ(failure.reason, Failure::Reason::Options);
  EXPECT_TEXT(failure.message, "unknown target 'gpu'");
  setenv("ADJOINT_LIBCUDA", "/missing/libcuda.so", /*replace=*/1);
  EXPECT_FALSE(compile(doubling, failure, "cuda"));
  EXPECT_EQ(failure.reason, Failure::Reason::Target);
  ProgramOptions options;
  options.entry = "other";
  options.cache = "off";
  EXPECT_FALSE(Program::compile(doubling, "p", options, standardHooks(), never, failure));
  EXPECT_EQ(failure.reason, Failure::Reason::Options);
  EXPECT_TEXT(failure.message, "no function @other");
  options.threads = 1u << 30;
  EXPECT_FALSE(Program::compile(doubling, "p", options, standardHooks(), never, failure));
  EXPECT_TEXT(failure.message, "expected at most 1024 threads");
}

TEST(Program, TakesItsThreadsFromTheEnvironment) {
  Failure failure;
  ProgramOptions options;
  options.cache = "off";
  ::setenv("ADJOINT_NUM_THREADS", "some", 1);
  EXPECT_FALSE(Program::compile(doubling, "p", options, standardHooks(), never, failure));
  EXPECT_EQ(failure.reason, Failure::Reason::Options);
  EXPECT_TEXT(failure.message, "expected ADJOINT_NUM_THREADS with a number from 0 to 1024, found 'some'");
  options.threads = 2;
  EXPECT_NE(Program::compile(doubling, "p", options, standardHooks(), never, failure), nullptr);
  ::unsetenv("ADJOINT_NUM_THREADS");
}

TEST(Program, ReportsErrorsAtRunTime) {
  for (const char *target : targets) {
    Failure failure;
    std::unique_ptr<Program> program = compile(adding, failure, target);
    Tensor x = unit::tensor(ADRT_F32, {2}, {1, 2}), y = unit::tensor(ADRT_F32, {3}, {1, 2, 3});
    std::vector<ProgramResult> results;
    EXPECT_FALSE(program->run({x.view(), y.view()}, {}, results, failure));
    EXPECT_EQ(failure.reason, Failure::Reason::Program);
    EXPECT_EQ(failure.location, "p.mlir:3:8");
    EXPECT_TEXT(failure.message, "broadcast: dimension 0 has sizes");
    EXPECT_TRUE(program->run({x.view(), x.view()}, {}, results, failure)); // and works again
  }
}

TEST(Program, StopsWhenAsked) {
  for (const char *target : targets) {
    Failure failure;
    std::unique_ptr<Program> program = compile(counting, failure, target);
    int polls = 0, received = 0;
    ProgramHost host;
    host.feed = [](const char *, const adrt_tensor &destination, std::string &) -> int32_t {
      *static_cast<float *>(destination.data) = 2;
      return ADRT_OK;
    };
    host.receive = [&](const char *, const adrt_tensor *values, int32_t count, std::string &) -> int32_t {
      received +=
          count == 1 && *static_cast<float *>(values->data) == 2.0f * static_cast<float>(received + 2);
      return ADRT_OK;
    };
    host.interrupted = [&] { return ++polls > 0 && received == 10; };
    std::vector<ProgramResult> results;
    EXPECT_FALSE(program->run({}, host, results, failure));
    EXPECT_EQ(failure.reason, Failure::Reason::Interrupted);
    EXPECT_EQ(received, 10);
    // Compiled code polls once per iteration, the interpreter before each operation.
    EXPECT_TRUE(target == llvm::StringRef("cpu") ? polls == 11 : polls > 11);
  }
}

TEST(Program, StopsCompilingWhenAsked) {
  for (const char *target : targets) {
    Failure failure;
    ProgramOptions options;
    options.cache = "off";
    options.target = target;
    EXPECT_TRUE(Program::compile(doubling, "p", options, standardHooks(), nullptr, failure)); // no callback
    int polls = 0;
    auto count = [&] { return ++polls < 0; };
    EXPECT_TRUE(Program::compile(doubling, "p", options, standardHooks(), count, failure));
    EXPECT_GT(polls, 4); // before every pass, not only between the stages
    // Passes on functions may run on another thread, which does not ask: the number differs from run to run.
    for (int stop : {1, 3, polls / 2}) {
      polls = 0;
      auto interrupted = [&] { return ++polls == stop; };
      EXPECT_FALSE(Program::compile(doubling, "p", options, standardHooks(), interrupted, failure));
      EXPECT_EQ(failure.reason, Failure::Reason::Interrupted);
      EXPECT_EQ(polls, stop);
    }
  }
}

TEST(Program, RunsOnManyThreads) {
  for (const char *target : targets) {
    Failure failure;
    std::unique_ptr<Program> program = compile(adding, failure, target);
    std::atomic<int> wrong{0};
    auto work = [&](int number) {
      for (int round = 0; round < 100; ++round) {
        // Every other call fails, so that errors meet results.
        Tensor x = unit::tensor(ADRT_F32, {2}, {double(number), double(round)});
        Tensor y = unit::tensor(ADRT_F32, {2 + round % 2}, {1, 1, 1});
        Failure problem;
        std::vector<ProgramResult> results;
        bool ran = program->run({x.view(), y.view()}, {}, results, problem);
        wrong += ran != (round % 2 == 0);
        if (ran)
          wrong += static_cast<float *>(results[0].data.data())[0] != static_cast<float>(number + 1);
      }
    };
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number)
      threads.emplace_back(work, number);
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(wrong, 0);
  }
}
