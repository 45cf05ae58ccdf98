// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "AttentionShape.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

AttentionShape::AttentionShape(Value query, Value key, Value value, Value mask)
    : query(typeOf(query)), key(typeOf(key)), value(typeOf(value)),
      mask(mask ? typeOf(mask) : RankedTensorType()), element(this->query.getElementType()),
      accumulator(accumulatorType(element)), heads(this->query.getDimSize(1)),
      groups(this->key.getDimSize(1)), depth(this->query.getDimSize(3)), width(this->value.getDimSize(3)),
      scale(1 / std::sqrt(static_cast<double>(depth))) {}

static int64_t smallest(int64_t x, int64_t y) {
  return ShapedType::isDynamic(x) ? y : ShapedType::isDynamic(y) ? x : std::min(x, y);
}

int64_t AttentionShape::rowsOfBlock() const {
  int64_t queries = query.getDimSize(2);
  return ShapedType::isDynamic(queries) ? queries : headsOfGroup() * std::min(queries, kAttentionQueries);
}

std::optional<int64_t> AttentionShape::mostKeysOfChunk() const {
  int64_t queries = query.getDimSize(2), keys = smallest(key.getDimSize(2), value.getDimSize(2));
  int64_t length = ShapedType::kDynamic;
  if (chunk)
    length = *chunk;
  else if (!ShapedType::isDynamic(queries))
    length = keysOfChunk(std::max<int64_t>(queries, 1));
  int64_t most = smallest(length, keys);
  return ShapedType::isDynamic(most) ? std::nullopt : std::optional(most);
}

bool AttentionShape::hasChunksUpTo(int64_t keys) const {
  std::optional<int64_t> most = mostKeysOfChunk();
  return most && *most <= keys;
}

std::optional<int64_t> AttentionShape::tileCount(int64_t rowsOfTile) const {
  int64_t queries = query.getDimSize(2);
  int64_t batch = smallest(query.getDimSize(0), smallest(key.getDimSize(0), value.getDimSize(0)));
  if (ShapedType::isDynamic(queries))
    return std::nullopt;
  if (ShapedType::isDynamic(batch))
    return std::numeric_limits<int64_t>::max();
  int64_t ofBlock = llvm::divideCeil(rowsOfBlock(), rowsOfTile);
  return batch * groups * ofBlock * llvm::divideCeil(queries, kAttentionQueries);
}
