// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Programs that are compiled ahead of time: adrt-run prints what ad-runner prints, with feeds, received values, donated arguments and
// repetitions; errors have their location; weights are stored with the program; options that do not fit the file are refused.
// DEFINE: %{values} = --arg x=arange --dim x.0=3 --arg p=uniform:3 --feed f=arange --print
// DEFINE: %{exits} = %python %S/Inputs/exits.py

// RUN: ad-runner %s %{values} > %t.expected
// RUN: ad-runner %s --emit %t.cpu.adx
// RUN: adrt-run %t.cpu.adx %{values} > %t.cpu
// RUN: cmp %t.expected %t.cpu
// RUN: ad-runner %t.cpu.adx %{values} > %t.here
// RUN: cmp %t.expected %t.here
// RUN: %{exits} 2 ad-runner %t.cpu.adx --numerics fast 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: ad-runner: error: '{{.*}}.cpu.adx' is compiled already: --numerics has no meaning for it
// RUN: ad-runner %s --emit %t.sim.adx --target gpu-sim
// RUN: adrt-run %t.sim.adx %{values} --target gpu-sim > %t.sim
// RUN: cmp %t.expected %t.sim
// RUN: adrt-run %t.sim.adx %{values} --repeat 3 --warmup 1 --threads 2 > %t.again
// RUN: cmp %t.expected %t.again

// RUN: ad-runner %s --emit %t.weights.adx --arg p=uniform:3 --cpu x86-64-v3
// RUN: adrt-run %t.weights.adx --arg x=arange --dim x.0=3 --feed f=arange --print > %t.weights
// RUN: cmp %t.expected %t.weights
// RUN: %{exits} 2 adrt-run %t.weights.adx %{values} --arg p=zeros 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: --arg 'p' is given twice
// RUN: adrt-run %t.weights.adx --arg x=arange --dim x.0=3 --feed f=arange --arg p=zeros --print | FileCheck %s --check-prefix=OVER
// OVER: p: tensor<4xf32> = [24. 28. 32. 36.]

// RUN: ad-runner %s --emit %t.report.adx --report %t.emit.json
// RUN: FileCheck %s --check-prefix=EMIT --input-file=%t.emit.json
// EMIT: "name": "emit"
// RUN: adrt-run %t.report.adx %{values} --report %t.run.json
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.run.json
// REPORT: "arena_bytes"
// REPORT: "calls": 4,
// REPORT: "name": "load"
// REPORT: "target": "cpu"

// RUN: ad-runner %s --entry wrong --emit %t.wrong.adx --target gpu-sim
// RUN: %{exits} 1 adrt-run %t.wrong.adx --arg x=arange --dim x.0=3 --arg y=arange --dim y.0=2 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: adx.mlir:[[#@LINE+32]]:8: error: 'ad.add' op broadcast: dimension 0 has sizes 3 and 2, neither is 1
// RUN: ad-runner %s --entry checked --emit %t.checked.adx
// RUN: %{exits} 3 adrt-run %t.checked.adx --arg x=arange 2>&1 | FileCheck %s --check-prefix=CHECKED
// CHECKED: adx.mlir:[[#@LINE+35]]:3: error: 'check.expect_finite' op {{.*}}expected a finite value

// RUN: %{exits} 2 adrt-run %t.cpu.adx --target gpu-sim 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: adrt-run: error: '{{.*}}.cpu.adx' was compiled for target 'cpu', not for 'gpu-sim'; leave --target out, or compile the program again: ad-runner --target gpu-sim --emit
// RUN: %{exits} 2 adrt-run %t.cpu.adx --entry wrong 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: adrt-run: error: '{{.*}}.cpu.adx' has no function @wrong, it has @main
// RUN: %{exits} 2 adrt-run %t.cpu.adx --numerics fast 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: adrt-run: error: option '--numerics' says how to compile, and FILE.adx is compiled already; give it to ad-runner --emit
// RUN: %{exits} 2 adrt-run 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: adrt-run: error: expected a program FILE.adx, try --help
// RUN: %{exits} 2 adrt-run %s 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: adrt-run: error: '{{.*}}adx.mlir': not a compiled program: it does not begin as an .adx file does; ad-runner PROGRAM.mlir --emit FILE.adx writes one
// RUN: %{exits} 2 ad-runner %s --emit %t.no.adx --print 2>&1 | FileCheck %s --check-prefix=PRINT
// PRINT: ad-runner: error: --emit runs nothing: give --print to adrt-run
// RUN: %{exits} 2 ad-runner %s --emit %t.no.adx --target reference 2>&1 | FileCheck %s --check-prefix=REFERENCE
// REFERENCE: ad-runner: error: --emit has no compiled code for target 'reference', expected cpu, gpu-sim or cuda
// RUN: %{exits} 2 ad-runner %s --emit %t.no.adx --arg q=zeros 2>&1 | FileCheck %s --check-prefix=WEIGHT
// WEIGHT: ad-runner: error: the program has no argument 'q', its arguments are x, p
// RUN: not ls %t.no.adx

// RUN: adrt-run --help | FileCheck %s --check-prefix=HELP
// HELP: USAGE: adrt-run FILE.adx [options]
// HELP-NOT: --emit
// RUN: adrt-run --version | FileCheck %s --check-prefix=VERSION
// VERSION: adrt-run {{[0-9.]+}} (.adx {{[0-9]+}}, runtime {{[0-9]+}})
// RUN: adrt-run --env | FileCheck %s --check-prefix=ENV
// ENV: CPU: {{.+}}

func.func @wrong(%x: tensor<?xf32> {ad.name = "x"}, %y: tensor<?xf32> {ad.name = "y"}) -> tensor<?xf32> {
  %z = ad.add %x, %y : tensor<?xf32>
  return %z : tensor<?xf32>
}

func.func @checked(%x: tensor<4xf32> {ad.name = "x"}) {
  %l = ad.log %x : tensor<4xf32>
  check.expect_finite(%l) : tensor<4xf32>
  return
}

func.func @main(%x: tensor<?xf32> {ad.name = "x"}, %p: tensor<4xf32> {ad.name = "p", ad.donated = 0}) -> (tensor<4xf32> {ad.name = "p"}, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%v = %p) -> tensor<4xf32> {
    %f = ad.feed "f" : tensor<4xf32>
    %n = ad.add %v, %f : tensor<4xf32>
    ad.receive "last"(%n) : tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  }
  return %r, %x : tensor<4xf32>, tensor<?xf32>
}

// RUN: adrt-run --wrong --help --threads | FileCheck %s --check-prefix=HELP
