// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-to-cpu-frontend --ad-to-cpu-fusion --convert-ad-to-linalg --ad-prepack-operands --ad-outline-kernels --ad-plan-memory=picture=%t.svg | FileCheck %s
// RUN: FileCheck %s --check-prefix=SVG --input-file=%t.svg
// RUN: %python -c "import sys, xml.dom.minidom as dom; dom.parse(sys.argv[1])" %t.svg
// Viewers that read no CSS show it: each shape has a plain colour.
// RUN: %python -c "import re, sys; t = open(sys.argv[1]).read(); assert not re.search('style|class=|hsl', t); s = re.findall('<(?:rect|text|line) [^>]*>', t); assert len(s) > 20 and all(re.search(' (fill|stroke)=\"#[0-9a-f]{6}\"', e) for e in s), s" %t.svg
// What cannot be written leaves no file, and what was there before stays.
// RUN: not ad-opt %s --ad-to-cpu-frontend --ad-to-cpu-fusion --convert-ad-to-linalg --ad-prepack-operands --ad-outline-kernels --ad-plan-memory=picture=%t.missing/a.svg -o /dev/null 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not ad-opt %s --ad-to-cpu-frontend --ad-to-cpu-fusion --convert-ad-to-linalg --ad-prepack-operands --ad-outline-kernels --ad-plan-memory=picture=/dev/full -o /dev/null 2>&1 | FileCheck %s --check-prefix=FULL
// MISSING: error: option picture of ad-plan-memory: cannot write '{{.*}}a.svg': No such file or directory
// FULL: error: option picture of ad-plan-memory: cannot write '/dev/full': No space left on device

// Values inside a kernel have no buffer: six operations, one kernel, one buffer. A contraction does not continue into another.
// CHECK: func.func @main
// CHECK-NEXT: ad.buffer <arena, bytes = 1024>
// CHECK-NEXT: ad.buffer <result, bytes = 1024>
// CHECK-NOT: ad.buffer
// SVG: <svg xmlns="http://www.w3.org/2000/svg"
// SVG: @main, pool 0: 1024 of 1024 bytes, at least 1024
// The buffer with what makes it and its size; axes with sizes, a title each, and names of operations.
// SVG: >[[KERNEL:dot_[0-9]+]], 1 KiB</text>
// SVG-COUNT-1: <title>buffer 0: 1024 bytes at 0, operations {{[0-9]+}} to {{[0-9]+}}, made by [[KERNEL]]</title>
// SVG-NOT: <title>
// SVG: >0 B</text>
// SVG: >1 KiB</text>
// SVG: >offset</text>
// SVG: >{{[0-9]+}} [[KERNEL]]</text>
// SVG: >{{[0-9]+}} func.return</text>
// SVG: >operation, in the order of the program</text>
// SVG: </svg>
func.func @main(%x: tensor<16x16xf32>, %w: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = ad.dot %x, %w : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = ad.exp %0 : tensor<16x16xf32>
  %2 = ad.add %1, %x : tensor<16x16xf32>
  %3 = ad.tanh %2 : tensor<16x16xf32>
  %4 = ad.mul %3, %3 : tensor<16x16xf32>
  %5 = ad.neg %4 : tensor<16x16xf32>
  %6 = ad.dot %5, %w : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %6 : tensor<16x16xf32>
}
