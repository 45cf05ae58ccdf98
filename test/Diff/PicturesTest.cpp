// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of matrices of differences, their pictures, and tables.
#include "adjoint/Diff/Pictures.h"
#include "ExpectText.h"
#include "TestTensors.h"

using namespace mlir::ad::diff;
using unit::makeTensor;
using unit::Tensor;

static DiffMatrix sampleMatrix() {
  Tensor a = makeTensor(ADRT_F32, {2}, {1, 2}), b = makeTensor(ADRT_F32, {2}, {1, 2.0625});
  Tensor c = makeTensor(ADRT_F32, {2}, {1, 2});
  return comparePairwise({a.view(), b.view(), c.view()}, {"a@x+b", "Gemm<Add>", "c"});
}

TEST(DiffMatrix, IsSymmetricWithAZeroDiagonal) {
  DiffMatrix matrix = sampleMatrix();
  for (size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(matrix.at(row, row), 0);
    for (size_t column = 0; column < 3; ++column)
      EXPECT_EQ(matrix.at(row, column), matrix.at(column, row));
  }
  EXPECT_EQ(matrix.at(0, 1), 0.0625);
  EXPECT_EQ(matrix.getMax(), 0.0625);
  EXPECT_EQ(matrix.findEqual(), (std::vector<std::vector<size_t>>{{0, 2}, {1}}));
}

TEST(DiffMatrix, IsALabelledTable) {
  EXPECT_EQ(sampleMatrix().toTable(8).toText(), "           a@x+b   Gemm<Add>  c\n"
                                                "a@x+b      0       0.0625     0\n"
                                                "Gemm<Add>  0.0625  0          0.0625\n"
                                                "c          0       0.0625     0\n");
  EXPECT_TEXT(sampleMatrix().toTable(0).toCSV(), ",a@x+b,Gemm<Add>,c\na@x+b,0.0,0.0625,0.0\n");
}

TEST(HeatMap, IsWhiteAtZeroAndOrangeAtTheLargest) {
  EXPECT_EQ(heatColor(0, 1), "#ffffff");
  EXPECT_EQ(heatColor(1, 1), "#fc7f00");
  EXPECT_EQ(heatColor(0.5, 1), "#ffbd00");
  EXPECT_EQ(heatColor(1e-9, 1), "#e4ff7a");
  EXPECT_EQ(heatColor(0, 0), "#ffffff");
  EXPECT_EQ(heatColor(0.25, 2), heatColor(0.125, 1));
}

TEST(HeatMap, HasACellForEachPair) {
  std::string svg = heatMapSVG(sampleMatrix(), "f32 <cpu>");
  EXPECT_TEXT(svg, "f32 &lt;cpu&gt; max=0.062</text>");
  EXPECT_TEXT(svg, "font-size=\"10\" text-anchor=\"middle\">0.06</text>");
  EXPECT_TEXT(svg, "fill=\"#fc7f00\"");
  EXPECT_TEXT(svg, "rotate(-45");
  size_t labels = 0;
  for (size_t at = 0; (at = svg.find("Gemm&lt;Add&gt;", at)) != std::string::npos; ++at)
    ++labels;
  EXPECT_EQ(labels, 2U);
}

TEST(BarChart, HasABarForEachValue) {
  std::string svg = barChartSVG("differences", {{"w", 1}, {"b", 1e-6}, {"same", 0}});
  EXPECT_TEXT(svg, ">differences, logarithmic</text>");
  EXPECT_TEXT(svg, ">1e-06</text>");
  EXPECT_TEXT(svg, "width=\"360\" height=\"16\"");
  EXPECT_TEXT(svg, "width=\"18\" height=\"16\"");
  EXPECT_TEXT(svg, "width=\"0\" height=\"16\"");
  EXPECT_TEXT(barChartSVG("near", {{"w", 1}, {"b", 2}}), ">near</text>");
  EXPECT_TEXT(barChartSVG("nothing", {}), "</svg>");
}

TEST(Tables, QuoteAndEscapeCells) {
  Table table{{"name", "text"}, {{"a,b", "say \"x\""}, {"<b>", "é"}}, {"", "fail"}};
  EXPECT_EQ(table.toCSV(), "name,text\n\"a,b\",\"say \"\"x\"\"\"\n<b>,é\n");
  EXPECT_TEXT(table.toHTML(), "<tr class=\"fail\"><td>&lt;b&gt;</td><td>é</td></tr>");
  EXPECT_EQ(escapeMarkup("\x01<&"), "\\u{1}&lt;&amp;");
  EXPECT_TEXT(htmlPage("a & b", "<p>"), "<title>a &amp; b</title>");
}
