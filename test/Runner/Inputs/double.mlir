// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A program as it is after the cpu pipeline: y = x + x, x: tensor<?xf32>. The declaration of @main is its signature.
func.func private @main(tensor<?xf32> {ad.name = "x"}) -> (tensor<?xf32> {ad.name = "y"})

llvm.func @adrt_result(!llvm.ptr, !llvm.ptr, i32, i32, i32, !llvm.ptr) -> !llvm.ptr

llvm.func @adrt_entry_main(%context: !llvm.ptr, %arguments: !llvm.ptr, %results: !llvm.ptr) -> i32 {
  %zero32 = llvm.mlir.constant(0 : i32) : i32
  %f32 = llvm.mlir.constant(1 : i32) : i32
  %rank = llvm.mlir.constant(1 : i32) : i32
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %null = llvm.mlir.zero : !llvm.ptr
  %host_error = llvm.mlir.constant(5 : i32) : i32
  %x = llvm.load %arguments : !llvm.ptr -> !llvm.ptr
  %shape_at = llvm.getelementptr %arguments[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, i32, i32, i32)>
  %shape = llvm.load %shape_at : !llvm.ptr -> !llvm.ptr
  %size = llvm.load %shape : !llvm.ptr -> i64
  %y = llvm.call @adrt_result(%context, %results, %zero32, %f32, %rank, %shape) : (!llvm.ptr, !llvm.ptr, i32, i32, i32, !llvm.ptr) -> !llvm.ptr
  %failed = llvm.icmp "eq" %y, %null : !llvm.ptr
  llvm.cond_br %failed, ^fail, ^loop(%zero : i64)
^loop(%i: i64):
  %more = llvm.icmp "slt" %i, %size : i64
  llvm.cond_br %more, ^body, ^done
^body:
  %from = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %value = llvm.load %from : !llvm.ptr -> f32
  %sum = llvm.fadd %value, %value : f32
  %to = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %sum, %to : f32, !llvm.ptr
  %next = llvm.add %i, %one : i64
  llvm.br ^loop(%next : i64)
^done:
  llvm.return %zero32 : i32
^fail:
  llvm.return %host_error : i32
}
