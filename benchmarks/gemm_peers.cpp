// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The peers of gemm.py, row-major, in f32 but for those whose name ends in -bf16:
//   gemm_peers peak                                        the GFLOP/s of independent fused multiply-adds
//   gemm_peers peak-bf16                                   those of dot products of bf16 pairs
//   gemm_peers PEER CALLS BATCH M N K TRANSA TRANSB        seconds per call
#include "peers.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#ifdef __AVX512BF16__
#include <immintrin.h>
#endif
#ifdef WITH_OPENBLAS
#include <cblas.h>
#endif
#ifdef WITH_ONEDNN
#include <oneapi/dnnl/dnnl.hpp>
#endif

using namespace peers;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

//===- The peak -----------------------------------------------------------===//

#ifdef __AVX512F__
constexpr int lanes = 16;
#else
constexpr int lanes = 8;
#endif
using Vector = float __attribute__((vector_size(lanes * sizeof(float))));

/// The best of several bursts of `step`, which adds `flops` per lane to each of twelve sums: enough to hide
/// the latency of the instruction, few enough for the registers.
template <typename Step> double measurePeak(int flops, Step &&step) {
  constexpr int chains = 12, steps = 500000, bursts = 8;
  double best = 0;
  for (int burst = 0; burst < bursts; ++burst) {
    Vector sums[chains] = {};
    Clock::time_point start = Clock::now();
    for (int i = 0; i < steps; ++i) {
#pragma clang loop unroll(full)
      for (int chain = 0; chain < chains; ++chain) {
        sums[chain] = step(sums[chain]);
        asm volatile("" : "+v"(sums[chain]));
      }
    }
    best = std::max(best, 1e-9 * flops * lanes * chains * steps / secondsSince(start));
  }
  return best;
}

double peakOfMultiplyAdds() {
  Vector factor = {}, term = {};
  asm volatile("" : "+v"(factor), "+v"(term));
  return measurePeak(2, [&](Vector sum) { return __builtin_elementwise_fma(sum, factor, term); });
}

#ifdef __AVX512BF16__
double peakOfDotProducts() {
  __m512bh pairs = {};
  asm volatile("" : "+v"(pairs));
  return measurePeak(4, [&](Vector sum) { return Vector(_mm512_dpbf16_ps(__m512(sum), pairs, pairs)); });
}
#else
double peakOfDotProducts() { return 0; }
#endif

//===- The products -------------------------------------------------------===//

struct Case {
  int64_t batch, m, n, k;
  bool transA, transB;
  Memory a, b, c;

  explicit Case(char **words)
      : batch(std::atoll(words[0])), m(std::atoll(words[1])), n(std::atoll(words[2])),
        k(std::atoll(words[3])), transA(std::atoi(words[4])), transB(std::atoi(words[5])),
        a(makeNumbers(batch * m * k)), b(makeNumbers(batch * k * n)), c(makeNumbers(batch * m * n)) {}

  int64_t lda() const { return transA ? m : k; }
  int64_t ldb() const { return transB ? k : n; }
};

using Call = std::function<void()>;

#ifdef WITH_OPENBLAS
Call prepareOpenBLAS(const Case &of) {
  return [&of] {
    for (int64_t i = 0; i < of.batch; ++i)
      cblas_sgemm(CblasRowMajor, of.transA ? CblasTrans : CblasNoTrans, of.transB ? CblasTrans : CblasNoTrans,
                  of.m, of.n, of.k, 1.0f, of.a.get() + i * of.m * of.k, of.lda(),
                  of.b.get() + i * of.k * of.n, of.ldb(), 0.0f, of.c.get() + i * of.m * of.n, of.n);
  };
}
#endif

#ifdef WITH_ONEDNN
Call prepareSgemm(const Case &of) {
  return [&of] {
    for (int64_t i = 0; i < of.batch; ++i)
      dnnl_sgemm(of.transA ? 'T' : 'N', of.transB ? 'T' : 'N', of.m, of.n, of.k, 1.0f,
                 of.a.get() + i * of.m * of.k, of.lda(), of.b.get() + i * of.k * of.n, of.ldb(), 0.0f,
                 of.c.get() + i * of.m * of.n, of.n);
  };
}

using dnnl::memory;

/// A row-major batch of matrices, each perhaps transposed in memory.
memory::desc describe(memory::data_type type, int64_t batch, int64_t rows, int64_t columns, bool transposed) {
  memory::dims sizes = {batch, rows, columns}, strides = {rows * columns, columns, 1};
  if (transposed)
    strides = {rows * columns, 1, rows};
  if (batch == 1) {
    sizes.erase(sizes.begin());
    strides.erase(strides.begin());
  }
  return {sizes, type, strides};
}

/// The numbers, laid out as `plain` says, in the layout that `wanted` says.
memory place(const dnnl::engine &engine, float *numbers, const memory::desc &plain,
             const memory::desc &wanted) {
  memory given(plain, engine, numbers);
  if (wanted == plain)
    return given;
  memory placed(wanted, engine);
  dnnl::stream stream(engine);
  dnnl::reorder(given, placed).execute(stream, given, placed);
  stream.wait();
  return placed;
}

/// The matmul primitive on the operands as they are or, prepacked, on weights in the layout that it likes
/// best.
Call prepareMatmul(const Case &of, memory::data_type type, bool prepacked) {
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  auto left = [&](memory::data_type of32) { return describe(of32, of.batch, of.m, of.k, of.transA); };
  auto right = [&](memory::data_type of32) { return describe(of32, of.batch, of.k, of.n, of.transB); };
  constexpr auto f32 = memory::data_type::f32;
  memory::desc a = left(type), b = right(type), c = describe(type, of.batch, of.m, of.n, false);
  if (prepacked)
    b = memory::desc(b.dims(), type, memory::format_tag::any);
  dnnl::matmul::primitive_desc how({a, b, c}, engine);
  std::unordered_map<int, memory> operands = {
      {DNNL_ARG_SRC, place(engine, of.a.get(), left(f32), a)},
      {DNNL_ARG_WEIGHTS, place(engine, of.b.get(), right(f32), how.weights_desc())},
      {DNNL_ARG_DST, memory(c, engine)}};
  return [stream, operands, matmul = dnnl::matmul(how)]() mutable {
    matmul.execute(stream, operands);
    stream.wait();
  };
}
#endif

using Prepare = std::function<Call(const Case &)>;

const std::map<std::string, Prepare> products = {
#ifdef WITH_OPENBLAS
    {"openblas", prepareOpenBLAS},
#endif
#ifdef WITH_ONEDNN
    {"onednn-sgemm", prepareSgemm},
    {"onednn-matmul", [](const Case &of) { return prepareMatmul(of, memory::data_type::f32, false); }},
    {"onednn-prepacked", [](const Case &of) { return prepareMatmul(of, memory::data_type::f32, true); }},
    {"onednn-prepacked-bf16",
     [](const Case &of) { return prepareMatmul(of, memory::data_type::bf16, true); }},
#endif
};

} // namespace

int main(int count, char **words) {
  if (count == 2 && !std::strncmp(words[1], "peak", 4)) {
    bool ofPairs = !std::strcmp(words[1], "peak-bf16");
    std::printf("%.17g\n", ofPairs ? peakOfDotProducts() : peakOfMultiplyAdds());
    return 0;
  }
  if (count != 9 || !products.count(words[1]))
    return std::fprintf(stderr, "expected 'peak', 'peak-bf16' or PEER CALLS BATCH M N K TRANSA TRANSB\n"), 1;
  Case of(words + 3);
  Call call = products.at(words[1])(of);
  std::printf("%.17g\n", medianSeconds(std::atoi(words[2]), call));
  return 0;
}
