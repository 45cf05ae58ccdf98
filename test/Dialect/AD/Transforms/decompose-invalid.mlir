// RUN: not ad-opt %s --ad-decompose=ops=ad.softmaxx 2>&1 | FileCheck %s

// CHECK: error: expected an operation with a decomposition (ad.clamp, {{.*}}ad.softmax{{.*}}), but got 'ad.softmaxx'
module {}
