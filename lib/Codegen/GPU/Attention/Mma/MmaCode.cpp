// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "MmaCode.h"
#include "MmaShape.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

SmallVector<Value> device::flatten(ArrayRef<Fragment> fragments) {
  SmallVector<Value> all;
  for (const Fragment &fragment : fragments)
    llvm::append_range(all, fragment);
  return all;
}

SmallVector<Fragment> device::fragmentsFrom(ValueRange all) {
  SmallVector<Fragment> fragments;
  for (; !all.empty(); all = all.drop_front(4))
    fragments.push_back({all[0], all[1], all[2], all[3]});
  return fragments;
}

Fragment MmaCode::multiply(ArrayRef<Value> a, ArrayRef<Value> b, const Fragment &sums) {
  NVVM::MMATypes type = element.isF16() ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
  auto result = LLVM::LLVMStructType::getLiteral(code.builder.getContext(),
                                                 SmallVector<Type>(sums.size(), code.accumulator));
  Value product = NVVM::MmaOp::create(code.builder, code.loc, result, a, b, ValueRange(sums),
                                      ArrayRef<int64_t>{MmaShape::kM, MmaShape::kN, MmaShape::kK},
                                      std::nullopt, std::nullopt, std::array{type, type},
                                      std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  Fragment next;
  for (auto [i, sum] : llvm::enumerate(next))
    sum = LLVM::ExtractValueOp::create(code.builder, code.loc, product, static_cast<int64_t>(i));
  return next;
}

Value MmaCode::pack(Value low, Value high) {
  OpBuilder &builder = code.builder;
  auto position = [&](int32_t i) {
    return LLVM::ConstantOp::create(builder, code.loc, builder.getI32Type(), i);
  };
  Value both = LLVM::UndefOp::create(builder, code.loc, VectorType::get(2, code.accumulator));
  both = LLVM::InsertElementOp::create(builder, code.loc, both, low, position(0));
  both = LLVM::InsertElementOp::create(builder, code.loc, both, high, position(1));
  Value narrow = ConvertOp::create(builder, code.loc, VectorType::get(2, element), both);
  if (element.isF16())
    return narrow;
  return LLVM::BitcastOp::create(builder, code.loc, builder.getI32Type(), narrow);
}

SmallVector<Fragment> MmaCode::zeros(int64_t columns) {
  Value zero = code.real(0);
  return SmallVector<Fragment>(columns / MmaShape::kN, Fragment{zero, zero, zero, zero});
}

void MmaCode::store(Value tensor, Value number, int64_t length, ArrayRef<Fragment> sums, int64_t row) {
  Value first = code.add(code.binary<arith::MulIOp>(number, length), code.resized(columnOfThread(), 64));
  for (auto [place, fragment] : llvm::enumerate(sums)) {
    Value address = code.at(tensor, code.builder.getI16Type(),
                            code.add(first, static_cast<int64_t>(place) * MmaShape::kN));
    LLVM::StoreOp::create(code.builder, code.loc, pack(fragment[2 * row], fragment[2 * row + 1]), address,
                          /*alignment=*/4);
  }
}

Value MmaCode::rowOfThread(int64_t number) {
  Value warp = code.binary<arith::DivUIOp>(code.thread, kWarpThreads);
  Value inWarp = code.binary<arith::DivUIOp>(code.binary<arith::RemUIOp>(code.thread, kWarpThreads), 4);
  return code.add(code.add(code.binary<arith::MulIOp>(warp, MmaShape::kM), inWarp), number * 8);
}

Value MmaCode::columnOfThread() {
  return code.binary<arith::MulIOp>(code.binary<arith::RemUIOp>(code.thread, 4), 2);
}
