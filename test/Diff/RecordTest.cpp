// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of records: their files, and their text.
#include "adjoint/Diff/Record.h"
#include "ExpectText.h"
#include "TestTensors.h"

using namespace mlir::ad::diff;

static const std::string header = "kind\tdtype\tshape\tsummary\top\tname\n";

static std::string errorOf(const std::string &text) {
  auto records = parseRecords(text, "run.tsv");
  return records ? "" : llvm::toString(records.takeError());
}

TEST(Records, AreReadFromATable) {
  auto records = llvm::cantFail(parseRecords(header + "INPUT\tfloat32\t2x3\tABCD\t\tx\r\n"
                                                      "RESULT\tint64\t\tAAAA\tAdd\ty\n",
                                             "run.tsv"));
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].shape->size(), 2U);
  EXPECT_EQ(records[0].name, "x");
  EXPECT_TRUE(records[1].shape->empty());
  EXPECT_EQ(records[1].op, "Add");
}

TEST(Records, NameFilesOfTensorsBesideTheTable) {
  std::string text = "kind\tdtype\tshape\tsummary\top\tname\tvalue\nINPUT\tfloat32\t2\tABAA\t\tx\tx.npy\n";
  EXPECT_EQ(llvm::cantFail(parseRecords(text, "folder/run.tsv"))[0].value, "folder/x.npy");
}

TEST(Records, HaveColumnsOfFixedWidth) {
  auto records =
      llvm::cantFail(parseRecords(header + "INITIA\tfloat32\t\tIAAA\t\tscale\n"
                                           "RESULT\tfloat32\t2x1024x8x64\tCKIM\tLinearRegression\ty\n"
                                           "INPUT\tbfloat16x\ta?xb\tAAAA\t\tx\n",
                                  "run.tsv"));
  EXPECT_EQ(records[0].toText(), "INITIA float32                       IAAA                 scale");
  EXPECT_EQ(records[1].toText(), "RESULT float32  4:2x1024x8x64        CKIM LinearRegressio y");
  EXPECT_EQ(records[2].toText(), "INPUT  bfloat16 2:a?xb               AAAA                 x");
}

TEST(Records, AreWrittenAsTheyAreRead) {
  std::vector<Record> records = {
      makeRecord("INPUT", unit::arange(ADRT_BF16, {3, 4}).view(), "", "x"),
      makeRecord("RESULT", unit::makeTensor(ADRT_I64, {}, {8}).view(), "ad.add", "two\twords")};
  records[1].value = "y.npy";
  std::string text = formatRecords(records);
  EXPECT_TEXT(text, "INPUT\tbfloat16\t3x4\tDMVE\t\tx\t\n");
  auto again = llvm::cantFail(parseRecords(text, "records.tsv"));
  EXPECT_EQ(formatRecords(again), text);
  EXPECT_EQ(again[1].name, "two words");
  EXPECT_TRUE(again[1].shape->empty());
}

TEST(Records, OfOtherFilesAreErrorsWithALine) {
  EXPECT_TEXT(errorOf(""), "is no table of records: expected the columns kind, dtype");
  EXPECT_TEXT(errorOf("kind,dtype\n"), "is no table of records");
  EXPECT_TEXT(errorOf(header), "'run.tsv' has no records");
  EXPECT_TEXT(errorOf(header + "INPUT\tfloat32\n"),
              "line 2: expected 6 to 11 cells separated by tabs, found 2");
  EXPECT_TEXT(errorOf(header + "INPUTS\tfloat32\t2\tABCD\t\tx\n"),
              "line 2: unknown kind 'INPUTS', expected INPUT,");
  EXPECT_TEXT(errorOf(header + "\nINPUT\tfloat32\t2x\tABCD\t\tx\n"),
              "line 3: expected a shape such as 2x3, found '2x'");
  EXPECT_TEXT(errorOf(header + "INPUT\tfloat32\t-2\tABCD\t\tx\n"), "found '-2'");
}
