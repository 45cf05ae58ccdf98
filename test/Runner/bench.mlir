// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// --bench: one line of JSON about the runs of a program, timed by the clock of the device; inputs and results stay on the device.
// DEFINE: %{fake} = env ADJOINT_LIBCUDA=%adjoint_lib/libad-fake-cuda.so
// DEFINE: %{run} = ad-runner %s --cache off --fuse single --arg x=normal:1
// DEFINE: %{exits} = %python %S/Inputs/exits.py

// The events are recorded right before the first command and right after the last one. The argument is copied to the device once, before
// the first of the two warm-up runs, and no result is copied back. All events are destroyed.
// RUN: %{fake} %{run} --target cuda --bench --repeat 3 2>%t.calls | FileCheck %s --check-prefix=LINE
// LINE: {"chip":"sm_80","clock":"cuda events","device":"Fake GPU, CUDA 13.1","entry":"main","launches":"replayed","name":"bench","numerics":"strict","repeat":3,
// LINE-SAME: "seconds":{"all":[0.0015,0.0015,0.0015],"median":0.0015,"min":0.0015},"target":"cuda","threads":{{[0-9]+}},"warmup":2}
// RUN: FileCheck %s --check-prefix=CALLS --implicit-check-not=cuMemcpyDtoH < %t.calls
// RUN: grep -c cuMemcpyHtoD %t.calls | FileCheck %s --check-prefix=ONCE
// ONCE: {{^1$}}
// CALLS: fake: cuMemcpyHtoDAsync
// CALLS: fake: cuEventCreate
// CALLS-NEXT: fake: cuEventCreate
// CALLS: fake: cuEventRecord stream 1
// CALLS-NEXT: fake: cuLaunchKernel
// CALLS-NEXT: fake: cuLaunchKernel
// CALLS-NEXT: fake: cuEventRecord stream 1
// CALLS-NEXT: fake: cuEventSynchronize
// CALLS-NEXT: fake: cuEventElapsedTime
// CALLS: fake: cuGraphInstantiateWithFlags
// CALLS-NEXT: fake: cuEventRecord stream 1
// CALLS-NEXT: fake: cuGraphLaunch 2 nodes
// CALLS-NEXT: fake: cuEventRecord stream 1
// CALLS-NEXT: fake: cuEventSynchronize
// CALLS-NEXT: fake: cuEventElapsedTime
// CALLS: fake: cuEventDestroy
// CALLS-NEXT: fake: cuEventDestroy
// CALLS: fake: cuDevicePrimaryCtxRelease 0 left

// RUN: %{fake} %{run} --target cuda --bench --repeat 3 --no-replay 2>/dev/null | FileCheck %s --check-prefix=SINGLE
// SINGLE: "launches":"one by one"

// --report times each kernel with events of its own, around its launch alone.
// RUN: %{fake} %{run} --target cuda --report %t.json --repeat 1 2>%t.calls
// RUN: FileCheck %s --check-prefix=KERNELS < %t.json
// RUN: FileCheck %s --check-prefix=EACH < %t.calls
// KERNELS: "kernels": [
// KERNELS: "calls": 1
// KERNELS: "seconds": 0.0015
// KERNELS: "calls": 1
// KERNELS: "seconds": 0.0015
// EACH: fake: cuEventRecord stream 1
// EACH-NEXT: fake: cuLaunchKernel
// EACH-NEXT: fake: cuEventRecord stream 1
// EACH-NEXT: fake: cuEventSynchronize
// EACH-NEXT: fake: cuEventElapsedTime
// EACH: fake: cuEventRecord stream 1
// EACH-NEXT: fake: cuLaunchKernel
// EACH-NEXT: fake: cuEventRecord stream 1

// An argument that the program overwrites is copied before each run, and before the clock starts. It is updated in place, in the memory
// that it has, and never read back.
// RUN: %{fake} ad-runner %s --entry donated --cache off --fuse single --arg x=normal:1 --target cuda --bench --repeat 3 2>%t.calls
// RUN: FileCheck %s --check-prefix=DONATED --implicit-check-not=cuMemcpyDtoH --implicit-check-not=cuMemcpyDtoD < %t.calls
// RUN: grep -c cuMemcpyHtoD %t.calls | FileCheck %s --check-prefix=FIVE
// FIVE: {{^5$}}
// DONATED: fake: cuMemAlloc
// DONATED: fake: cuMemcpyHtoDAsync
// DONATED: fake: cuEventRecord
// DONATED-NEXT: fake: cuLaunchKernel {{.*}}(m1+0, m2+0)
// DONATED-NEXT: fake: cuLaunchKernel {{.*}}(m2+0, m1+0)
// DONATED: fake: cuEventElapsedTime
// DONATED: fake: cuMemcpyHtoDAsync
// DONATED: fake: cuEventRecord
// DONATED: fake: cuEventElapsedTime
// DONATED: fake: cuDevicePrimaryCtxRelease 0 left

// Devices without a clock of their own, and the CPU, use the clock of the host.
// RUN: %{run} --target gpu-sim --bench | FileCheck %s --check-prefix=SIM
// SIM: "clock":"monotonic","device":"gpu-sim",{{.*}}"launches":"replayed",{{.*}}"repeat":10,{{.*}}"seconds":{"all":[{{[0-9]}}{{.*}}"warmup":2}
// RUN: ad-runner %s --arg x=normal:1 --target reference --bench --repeat 1 --warmup 0 2>&1 | FileCheck %s --check-prefix=REFERENCE
// REFERENCE: "device":"reference",{{.*}}"repeat":1,
// RUN: ad-runner %s --cache off --emit %t.adx
// RUN: rm -f %t.jsonl
// RUN: adrt-run %t.adx --arg x=normal:1 --bench=%t.jsonl --repeat 1
// RUN: adrt-run %t.adx --arg x=normal:1 --bench=%t.jsonl --repeat 2 --warmup 0
// RUN: FileCheck %s --check-prefix=LINES < %t.jsonl
// LINES: {{^}}{{{.*}}"device":"cpu",{{.*}}"repeat":1,{{.*}}"warmup":2}{{$}}
// LINES-NEXT: {{^}}{{{.*}}"device":"cpu",{{.*}}"repeat":2,{{.*}}"warmup":0}{{$}}

// A line is written whole or not at all.
// RUN: %{exits} 2 adrt-run %t.adx --arg x=normal:1 --bench=/dev/full 2>&1 | FileCheck %s --check-prefix=FULL
// FULL: adrt-run: error: cannot write '/dev/full': No space left on device
// RUN: cp %t.jsonl %t.before
// RUN: %{exits} --file-limit 700 2 adrt-run %t.adx --arg x=normal:1 --bench=%t.jsonl 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: adrt-run: error: cannot write '{{.*}}.jsonl':
// RUN: diff %t.before %t.jsonl

// A line after an incomplete one begins on a line of its own.
// RUN: printf '{"cut' > %t.cut
// RUN: adrt-run %t.adx --arg x=normal:1 --bench=%t.cut --repeat 1
// RUN: FileCheck %s --check-prefix=CUT < %t.cut
// CUT: {{^}}{"cut{{$}}
// CUT-NEXT: {{^}}{"chip":{{.*}}}{{$}}

// A file that cannot be written is an error before the program runs.
// RUN: %{exits} 2 adrt-run %t.adx --arg x=normal:1 --bench=%t.nowhere/x.jsonl --repeat 10000000 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: adrt-run: error: cannot write '{{.*}}x.jsonl': No such file or directory
// RUN: %{exits} 2 adrt-run %t.adx --arg x=normal:1 --bench=%S --repeat 10000000 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: adrt-run: error: cannot write '{{.*}}': Is a directory
// RUN: %{exits} 2 adrt-run %t.adx --arg x=normal:1 --report=%t.nowhere/x.json --repeat 10000000 2>&1 | FileCheck %s --check-prefix=LOST
// LOST: adrt-run: error: cannot write '{{.*}}x.json': No such file or directory
// RUN: %{exits} 2 ad-runner %s --arg x=normal:1 --numerics-report=%S --repeat 10000000 2>&1 | FileCheck %s --check-prefix=ISFOLDER
// ISFOLDER: ad-runner: error: cannot write '{{.*}}': Is a directory
// Devices and standard output are written, too.
// RUN: adrt-run %t.adx --arg x=normal:1 --report=/dev/null
// RUN: adrt-run %t.adx --arg x=normal:1 --report=/dev/stdout > %t.report
// RUN: FileCheck %s --check-prefix=KEYS < %t.report
// KEYS: "exit_code": 0

// Neither lines nor reports go into a source.
// RUN: cp %t.before %t.npy
// RUN: %{exits} 2 adrt-run %t.adx --arg x=%t.npy --bench=%t.npy 2>&1 | FileCheck %s --check-prefix=SOURCE
// SOURCE: error: --bench would write into '{{.*}}.npy', the source of 'x'; name another file
// RUN: %{exits} 2 adrt-run %t.adx --arg x=%t.npy,cycle --report %t.npy 2>&1 | FileCheck %s --check-prefix=REPLACED
// REPLACED: error: --report would write into '{{.*}}.npy', the source of 'x'; name another file
// RUN: diff %t.before %t.npy

// Options that have no meaning for --bench, or would disturb its times, are refused with advice.
// RUN: %{exits} 2 adrt-run %t.adx --arg x=normal:1 --bench --print 2>&1 | FileCheck %s --check-prefix=PRINT
// PRINT: error: --bench does not copy results to the host; leave --print out, or run the program once more without --bench
// RUN: %{exits} 2 adrt-run %t.adx --arg x=normal:1 --bench --out-dir %t.out 2>&1 | FileCheck %s --check-prefix=OUT
// OUT: error: --bench does not copy results to the host; leave --out-dir out
// RUN: %{exits} 2 adrt-run %t.adx --arg x=normal:1 --bench --report - 2>&1 | FileCheck %s --check-prefix=REPORT
// REPORT: error: --bench measures what --report changes; leave one of them out
// RUN: %{exits} 2 %{run} --target gpu-sim --bench --timeout-kernel 3 2>&1 | FileCheck %s --check-prefix=TIMEOUT
// TIMEOUT: error: --bench measures what --timeout-kernel changes; leave one of them out
// RUN: %{exits} 2 %{run} --bench --bench=%t.jsonl 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: option '--bench' is given twice
// RUN: %{exits} 2 %{run} --bench=%s 2>&1 | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: error: --bench would replace the program
// RUN: %{exits} 2 ad-runner %s --emit %t.adx --bench 2>&1 | FileCheck %s --check-prefix=EMIT
// EMIT: error: --emit runs nothing: give --bench to adrt-run

// --tile selects a tile of the table for products, for such measurements.
// RUN: ad-runner %s --entry product --cache off --target gpu-sim --chip sm_90a --numerics fast --tile 128x128 --arg x=normal:1 --arg y=normal:2 --bench --repeat 1
// RUN: %{exits} 1 ad-runner %s --entry product --cache off --target gpu-sim --chip sm_90a --numerics fast --tile 3x5 --arg x=normal:1 --arg y=normal:2 2>&1 | FileCheck %s --check-prefix=TILE
// TILE: error: {{.*}}3x5
// RUN: %{exits} 2 %{run} --tile 128x128 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: error: --tile is about kernels on a GPU, target 'cpu' has none; add --target gpu-sim or cuda

func.func @main(%x: tensor<300xf32> {ad.name = "x"}) -> tensor<300xf32> {
  %a = ad.exp %x : tensor<300xf32>
  %b = ad.tanh %a : tensor<300xf32>
  return %b : tensor<300xf32>
}

func.func @donated(%x: tensor<300xf32> {ad.name = "x", ad.donated = 0}) -> tensor<300xf32> {
  %a = ad.exp %x : tensor<300xf32>
  %b = ad.tanh %a : tensor<300xf32>
  return %b : tensor<300xf32>
}

func.func @product(%x: tensor<128x64xbf16> {ad.name = "x"}, %y: tensor<64x128xbf16> {ad.name = "y"}) -> tensor<128x128xbf16> {
  %p = ad.dot %x, %y : (tensor<128x64xbf16>, tensor<64x128xbf16>) -> tensor<128x128xbf16>
  return %p : tensor<128x128xbf16>
}
