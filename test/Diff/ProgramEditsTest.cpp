// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of the operations that differ between two texts of programs.
#include "adjoint/Diff/ProgramEdits.h"
#include "gtest/gtest.h"

using namespace mlir::ad::diff;

namespace {

using Edits = std::vector<std::string>;

constexpr const char *program = R"(// A program.
#map = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %0 = ad.constant dense<2.0> : tensor<4xf32>
  %1 = ad.mul %x, %0 : tensor<4xf32>
  %2 = scf.for %i = %n to %n step %n
      iter_args(%a = %1) -> (tensor<4xf32>) {
    %b = ad.sub %a, %x : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  %3 = ad.exp %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}
)";

std::string replaced(const std::string &from, const std::string &to, std::string text = program) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Edits editsTo(const std::string &right, const std::string &left = program) {
  Edits texts;
  for (const ProgramEdit &edit : findEdits(left, "a.mlir", right, "b.mlir"))
    texts.push_back(editText(edit));
  return texts;
}

} // namespace

TEST(ProgramEdits, NamesAnotherOperation) {
  EXPECT_EQ(editsTo(replaced("ad.exp", "ad.tanh")), (Edits{"ad.exp at a.mlir:11:8, ad.tanh at b.mlir:11:8"}));
  EXPECT_EQ(editsTo(replaced("ad.sub", "ad.add")), (Edits{"ad.sub at a.mlir:8:10, ad.add at b.mlir:8:10"}));
}

TEST(ProgramEdits, NamesOtherConstantsOperandsOrdersAndTypes) {
  EXPECT_EQ(editsTo(replaced("dense<2.0>", "dense<3.0>")),
            (Edits{"ad.constant at a.mlir:4:8, ad.constant at b.mlir:4:8"}));
  EXPECT_EQ(editsTo(replaced("%a, %x", "%x, %a")), (Edits{"ad.sub at a.mlir:8:10, ad.sub at b.mlir:8:10"}));
  EXPECT_EQ(editsTo(replaced("iter_args(%a = %1)", "iter_args(%a = %x)")),
            (Edits{"scf.for at a.mlir:6:8, scf.for at b.mlir:6:8"}));
  EXPECT_EQ(editsTo(replaced("return %3", "return %2")),
            (Edits{"return at a.mlir:12:3, return at b.mlir:12:3"}));
  EXPECT_EQ(editsTo(replaced("(d0)>", "(0)>")), (Edits{"#map at a.mlir:2:1, #map at b.mlir:2:1"}));
}

TEST(ProgramEdits, NamesDeletedAndInsertedOperations) {
  std::string without = replaced("  %3 = ad.exp %2 : tensor<4xf32>\n  return %3", "  return %2");
  EXPECT_EQ(editsTo(without),
            (Edits{"ad.exp at a.mlir:11:8, only left", "return at a.mlir:12:3, return at b.mlir:11:3"}));
  EXPECT_EQ(editsTo(program, without),
            (Edits{"ad.exp at b.mlir:11:8, only right", "return at a.mlir:11:3, return at b.mlir:12:3"}));
}

// An operation is inserted at the begin, so that all later values have other numbers.
TEST(ProgramEdits, NamesOfValuesDoNotCount) {
  EXPECT_EQ(editsTo(R"(func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ad.neg %x : tensor<4xf32>
  %1 = ad.exp %0 : tensor<4xf32>
  %2 = ad.mul %1, %1 : tensor<4xf32>
  %3 = ad.add %2, %1 : tensor<4xf32>
  return %3 : tensor<4xf32>
}
)",
                    R"(func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ad.exp %arg0 : tensor<4xf32>
  %1 = ad.mul %0, %0 : tensor<4xf32>
  %2 = ad.add %1, %0 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
)"),
            (Edits{"ad.neg at b.mlir:2:8, only right", "ad.exp at a.mlir:2:8, ad.exp at b.mlir:3:8"}));
}

TEST(ProgramEdits, BlanksCommentsAndLocationsDoNotCount) {
  EXPECT_EQ(editsTo(replaced("// A program.\n", "\n  // Another comment.\n")), Edits());
  EXPECT_EQ(editsTo(replaced("%x, %0", " %x,  %0")), Edits());
  EXPECT_EQ(editsTo(replaced("  %3 =", "  // 100 % of it\n  %3 =")), Edits());
  EXPECT_EQ(editsTo(replaced("step %n\n      iter_args", "step %n iter_args")), Edits());
}

TEST(ProgramEdits, KnowsTheValuesOfAnOperation) {
  std::vector<ProgramEdit> edits = findEdits(program, "a.mlir", replaced("ad.exp", "ad.tanh"), "b.mlir");
  Record record;
  record.location = "a.mlir:11:8";
  EXPECT_TRUE(computes(edits.front().left, record));
  EXPECT_FALSE(computes(edits.front().right, record));
  record.location = "fused[a.mlir:5:8, a.mlir:11:8]";
  EXPECT_TRUE(computes(edits.front().left, record));
  for (const char *other : {"a.mlir:11:80", "a.mlir:1:8", "aa.mlir:1", ""}) {
    record.location = other;
    EXPECT_FALSE(computes(edits.front().left, record)) << other;
  }
}
