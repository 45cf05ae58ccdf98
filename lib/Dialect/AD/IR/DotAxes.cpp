// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The lists of axes of contractions: defaults and assembly.

#include "DotAxes.h"

using namespace mlir;
using namespace mlir::ad;

std::optional<DotAxes> DotAxes::ofMatmul(int64_t lhsRank, int64_t rhsRank) {
  if (lhsRank < 1 || rhsRank < 1)
    return std::nullopt;
  if (rhsRank > 2 && lhsRank != 1 && lhsRank != rhsRank)
    return std::nullopt;
  DotAxes axes;
  if (rhsRank > 2 && lhsRank == rhsRank)
    axes.lhsBatch = axes.rhsBatch = llvm::to_vector(llvm::seq<int64_t>(0, lhsRank - 2));
  axes.lhsContract = {lhsRank - 1};
  axes.rhsContract = {std::max<int64_t>(rhsRank - 2, 0)};
  return axes;
}

static ParseResult parseAxisList(OpAsmParser &parser, SmallVectorImpl<int64_t> &axes) {
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(axes.emplace_back()); });
}

// `keyword [..] x [..]`, if it is present.
static ParseResult parseAxisPair(OpAsmParser &parser, StringRef keyword, SmallVectorImpl<int64_t> &lhs,
                                 SmallVectorImpl<int64_t> &rhs, bool &written) {
  if (failed(parser.parseOptionalKeyword(keyword)))
    return success();
  written = true;
  return failure(parseAxisList(parser, lhs) || parser.parseKeyword("x") || parseAxisList(parser, rhs));
}

ParseResult DotAxes::parse(OpAsmParser &parser, bool &written) {
  return failure(parseAxisPair(parser, "batch", lhsBatch, rhsBatch, written) ||
                 parseAxisPair(parser, "contract", lhsContract, rhsContract, written));
}

ParseResult DotAxes::resolveMatmul(OpAsmParser &parser, SMLoc loc, TypeRange types) {
  SmallVector<int64_t> ranks;
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      ranks.push_back(tensor.getRank());
  if (ranks.size() != 2)
    return success(); // the verifier says what is wrong with the operands
  std::optional<DotAxes> matmul = ofMatmul(ranks[0], ranks[1]);
  if (!matmul)
    return parser.emitError(loc, "expected batch and contract lists, since matmul of ranks ")
           << ranks[0] << " and " << ranks[1] << " has no default";
  *this = *matmul;
  return success();
}

static void printAxisPair(OpAsmPrinter &printer, StringRef keyword, ArrayRef<int64_t> lhs,
                          ArrayRef<int64_t> rhs) {
  printer << " " << keyword << " [" << lhs << "] x [" << rhs << "]";
}

void DotAxes::print(OpAsmPrinter &printer, int64_t lhsRank, int64_t rhsRank) const {
  std::optional<DotAxes> matmul = ofMatmul(lhsRank, rhsRank);
  if (matmul && *matmul == *this)
    return;
  if (!lhsBatch.empty() || !rhsBatch.empty())
    printAxisPair(printer, "batch", lhsBatch, rhsBatch);
  printAxisPair(printer, "contract", lhsContract, rhsContract);
}
