// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of distances and alignments. The golden runs are two exports of one attention layer.
#include "adjoint/Diff/Alignment.h"
#include "ExpectText.h"
#include "TestTensors.h"
#include "adjoint/Support/Npy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir::ad::diff;

static Record record(const char *kind, const char *dtype, const char *shape, const char *summary,
                     const char *op = "", const char *name = "") {
  return {kind, dtype, parseShape(shape), summary, op, name, ""};
}

static std::string readInput(llvm::StringRef name) {
  auto buffer = llvm::MemoryBuffer::getFile((llvm::Twine(AD_DIFF_INPUTS "/") + name).str());
  return buffer ? (*buffer)->getBuffer().str() : "";
}

static std::vector<std::pair<int64_t, int64_t>> places(const Alignment &alignment) {
  std::vector<std::pair<int64_t, int64_t>> found;
  for (const AlignedPair &pair : alignment.pairs)
    found.push_back({pair.left, pair.right});
  return found;
}

static std::vector<Record> sampleRun() {
  return {record("INPUT", "float32", "2x2", "ABCD", "", "A"),
          record("INPUT", "float32", "2x2", "ABCD", "", "B"),
          record("INPUT", "float32", "2x2", "ABCD", "", "C"),
          record("RESULT", "float32", "2x2", "CEIO", "Exp", "H"),
          record("RESULT", "float32", "2x2", "CEIO", "LinearRegression", "Y1"),
          record("RESULT", "float32", "2x2", "CEIO", "Abs", "Y"),
          record("OUTPUT", "float32", "2x2", "CEIO", "", "Y")};
}

TEST(Distance, HasTheGoldenValues) {
  Record input = record("INPUT", "float32", "2x2", "ABCD");
  EXPECT_EQ(distanceOf(input, input), 0);
  EXPECT_EQ(distanceOf(input, record("INPUT", "float16", "2x2", "ABCD")), 2);
  EXPECT_EQ(distanceOf(input, record("OUTPUT", "float16", "2x2x4", "GBCD", "Abs")), 1130);
  EXPECT_EQ(distanceOf(input, record("OUTPUT", "float16", "2x3", "GBCD", "Abs")), 1021);
  EXPECT_EQ(distanceOf(input, record("INPUT", "float32", "2x2", "ABCD", "", "another name")), 0);
}

TEST(Distance, CountsTypesSymbolsAndUnknownShapes) {
  Record input = record("INPUT", "float32", "2x2", "ABCD");
  EXPECT_EQ(distanceOf(input, record("INPUT", "bfloat16", "2x2", "ABCD")), 10);
  EXPECT_EQ(distanceOf(input, record("INPUT", "float32", "ax2", "ABCD")), 50);
  EXPECT_EQ(distanceOf(input, record("INPUT", "float32", "ax5", "ABCD")), 53);
  EXPECT_EQ(distanceOf(input, record("INPUT", "float32", "axbxc", "ABCD")), 100);
  EXPECT_EQ(distanceOf(input, record("INPUT", "float32", "?", "ABCD")), 100);
  EXPECT_EQ(distanceOf(input, record("INPUT", "float32", "2x2", "ABC")), 1e6);
}

TEST(Alignment, SkipsARecordThatIsMissing) {
  std::vector<Record> left = sampleRun(), right = left;
  right.erase(right.begin() + 4);
  Alignment alignment = llvm::cantFail(align(left, right));
  EXPECT_EQ(alignment.distance, 1000);
  EXPECT_EQ(places(alignment), (std::vector<std::pair<int64_t, int64_t>>{
                                   {0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 3}, {5, 4}, {6, 5}}));
}

TEST(Alignment, SumsDistancesOfPairs) {
  std::vector<Record> left = sampleRun(), right = left;
  EXPECT_EQ(llvm::cantFail(align(left, right)).distance, 0);
  right[5].name = "Z";
  EXPECT_EQ(llvm::cantFail(align(left, right)).distance, 0);
  right[3].summary = "CEIP";
  EXPECT_EQ(llvm::cantFail(align(left, right)).distance, 1);
  right[3] = left[3];
  right[1].shape = parseShape("2x3");
  right[1].summary = "ABDE";
  EXPECT_EQ(llvm::cantFail(align(left, right)).distance, 5);
}

TEST(Alignment, WritesAMixedExample) {
  std::vector<Record> left = sampleRun(), right = left;
  right.erase(right.begin() + 3);
  right.back().summary = "CEIG";
  Alignment alignment = llvm::cantFail(align(left, right));
  EXPECT_EQ(alignment.distance, 1008);
  EXPECT_EQ(places(alignment), (std::vector<std::pair<int64_t, int64_t>>{
                                   {0, 0}, {1, 1}, {2, 2}, {3, 2}, {4, 3}, {5, 4}, {6, 5}}));
  std::string text = llvm::cantFail(alignmentText(alignment, left, right));
  llvm::erase(text, ' ');
  EXPECT_TEXT(text, "001=|INPUTfloat322:2x2ABCDA|INPUTfloat322:2x2ABCDA\n");
  EXPECT_TEXT(text, "004-|RESULTfloat322:2x2CEIOExpH|\n");
  EXPECT_TEXT(text, "005=|RESULTfloat322:2x2CEIOLinearRegressioY1|");
  EXPECT_TEXT(text, "007~|OUTPUTfloat322:2x2CEIOY|OUTPUTfloat322:2x2CEIGY\n");
}

TEST(Alignment, OfTwoExportsIsTheRecordedOne) {
  auto left = llvm::cantFail(parseRecords(readInput("llama-left.tsv"), "left"));
  auto right = llvm::cantFail(parseRecords(readInput("llama-right.tsv"), "right"));
  ASSERT_EQ(left.size(), 103U);
  ASSERT_EQ(right.size(), 79U);
  Alignment alignment = llvm::cantFail(align(left, right));
  EXPECT_EQ(alignment.distance, 40717);
  EXPECT_EQ(alignment.pairs.size(), 108U);
  EXPECT_EQ(alignment.count(Symbol::Equal), 22);
  EXPECT_EQ(alignment.count(Symbol::Different), 52);
  EXPECT_EQ(alignment.count(Symbol::OnlyLeft), 29);
  EXPECT_EQ(alignment.count(Symbol::OnlyRight), 5);
  std::string pairs;
  for (const AlignedPair &pair : alignment.pairs)
    pairs += std::to_string(pair.left) + "\t" + std::to_string(pair.right) + "\t" +
             static_cast<char>(pair.symbol) + "\n";
  EXPECT_EQ(pairs, readInput("llama-pairs.tsv"));
  constexpr size_t column = 90;
  EXPECT_EQ(llvm::cantFail(alignmentText(alignment, left, right, column)), readInput("llama-aligned.txt"));
}

TEST(Alignment, OfRunsOfVeryDifferentLengthsEnds) {
  std::vector<Record> one(1, sampleRun().front()), many(300, sampleRun()[3]);
  many.front() = one.front();
  Alignment shorter = llvm::cantFail(align(many, one)), longer = llvm::cantFail(align(one, many));
  EXPECT_EQ(shorter.distance, 299000);
  EXPECT_EQ(shorter.count(Symbol::OnlyLeft), 299);
  EXPECT_EQ(longer.count(Symbol::OnlyRight), 299);
  EXPECT_TEXT(llvm::toString(align({}, one).takeError()), "expected records in both runs");
}

/// Runs of one length whose records belong together, but for those that only the one has at its begin and the
/// other at its end.
static Alignment alignDelayed(int64_t delay) {
  std::vector<Record> left(1, sampleRun().front()), right = left;
  auto addSizes = [](std::vector<Record> &run, int64_t first, int64_t count, int64_t unit) {
    for (int64_t i = first; i < first + count; ++i)
      run.push_back(record("RESULT", "float32", std::to_string((i + 1) * unit).c_str(), "AAAA"));
  };
  constexpr int64_t common = 60, small = 10000, large = 100000000;
  addSizes(left, 0, delay, large);
  addSizes(left, 0, common, small);
  addSizes(right, 0, common, small);
  addSizes(right, delay, delay, large);
  return llvm::cantFail(align(left, right));
}

TEST(Alignment, ReachesFiftyPlacesFromTheDiagonal) {
  Alignment last = alignDelayed(50);
  EXPECT_EQ(last.distance, 100000);
  EXPECT_EQ(last.count(Symbol::Equal), 61);
  EXPECT_GT(alignDelayed(51).distance, 102000);
}

TEST(Alignment, RelativeDifferencesAreNotOfZero) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("ad-diff-unit", folder));
  std::vector<Record> left = {sampleRun()[0]}, right = left;
  left[0].value = (folder + "/left.npy").str();
  right[0].value = (folder + "/right.npy").str();
  llvm::cantFail(mlir::ad::runner::writeNpy(left[0].value, unit::makeTensor(ADRT_F32, {1}, {0}).view()));
  llvm::cantFail(mlir::ad::runner::writeNpy(right[0].value, unit::makeTensor(ADRT_F32, {1}, {1e-7}).view()));
  Alignment alignment = llvm::cantFail(align(left, right));
  EXPECT_TEXT(llvm::cantFail(alignmentText(alignment, left, right)), " | a=1e-07 r=1\n");
  llvm::sys::fs::remove_directories(folder);
}

TEST(Alignment, AddsDifferencesOfKeptTensors) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("ad-diff-unit", folder));
  std::vector<Record> left = {sampleRun()[0]}, right = left;
  left[0].value = (folder + "/left.npy").str();
  right[0].value = (folder + "/right.npy").str();
  llvm::cantFail(mlir::ad::runner::writeNpy(left[0].value, unit::makeTensor(ADRT_F32, {2}, {1, 2}).view()));
  llvm::cantFail(
      mlir::ad::runner::writeNpy(right[0].value, unit::makeTensor(ADRT_F32, {2}, {1, 2.5}).view()));
  Alignment alignment = llvm::cantFail(align(left, right));
  EXPECT_TEXT(llvm::cantFail(alignmentText(alignment, left, right)), " | a=0.5 r=0.25\n");
  llvm::sys::fs::remove_directories(folder);
}

TEST(Alignment, RecordsOfOtherBitsAreNotEqual) {
  std::vector<Record> left = {sampleRun()[0]}, right = left;
  left[0].hash = right[0].hash = "1";
  EXPECT_EQ(distanceOf(left[0], right[0]), 0);
  right[0].hash = "2";
  EXPECT_EQ(distanceOf(left[0], right[0]), 1);
  EXPECT_EQ(llvm::cantFail(align(left, right)).pairs.front().symbol, Symbol::Different);
  right[0].op = "Other"; // the distance that records without hashes have
  EXPECT_EQ(distanceOf(left[0], right[0]), 10);
}

// A repeated record is paired with the one of its bits: two others would cost as much without hashes.
TEST(Alignment, RepeatedRecordsAreAlignedByTheirBits) {
  Record first = sampleRun()[0], value = sampleRun()[0];
  std::vector<Record> left = {first, value, value}, right = {first, value};
  left[0].hash = right[0].hash = "0";
  left[1].hash = "1";
  left[2].hash = right[1].hash = "2";
  Alignment alignment = llvm::cantFail(align(left, right));
  EXPECT_EQ(alignment.distance, 1000);
  EXPECT_EQ(alignment.count(Symbol::Equal), 2);
  EXPECT_EQ(alignment.count(Symbol::OnlyLeft), 1);
}

TEST(Alignment, ComparesKeptTensorsOfWideTypesWithoutRounding) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("ad-diff-unit", folder));
  std::vector<Record> left = {sampleRun()[0]}, right = left;
  left[0].value = (folder + "/left.npy").str();
  right[0].value = (folder + "/right.npy").str();
  const std::tuple<adrt_type, double, const char *> cases[] = {
      {ADRT_F64, 1 + 0x1p-40, " | a=9.0949e-13 r=9.0949e-13\n"}, {ADRT_I32, 2, " | a=1 r=1\n"}};
  for (auto [type, number, text] : cases) {
    left[0].dtype = right[0].dtype = dtypeName(type);
    llvm::cantFail(mlir::ad::runner::writeNpy(left[0].value, unit::makeTensor(type, {1}, {1}).view()));
    llvm::cantFail(mlir::ad::runner::writeNpy(right[0].value, unit::makeTensor(type, {1}, {number}).view()));
    Alignment alignment = llvm::cantFail(align(left, right));
    EXPECT_TEXT(llvm::cantFail(alignmentText(alignment, left, right)), text);
  }
  llvm::sys::fs::remove_directories(folder);
}
