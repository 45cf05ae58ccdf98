// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Of more than 1000 elements, an axis of more than six shows its first and last three, as NumPy does.
// RUN: ad-runner %s --arg x=zeros --dim x.0=6 --print | FileCheck %s --check-prefix=SIX
// RUN: ad-runner %s --arg x=zeros --dim x.0=7 --print | FileCheck %s --check-prefix=SEVEN
func.func @main(%x: tensor<?x200xf32> {ad.name = "x"}) -> (tensor<?x200xf32> {ad.name = "y"}) {
  %y = ad.abs %x : tensor<?x200xf32>
  return %y : tensor<?x200xf32>
}

// SIX:      y: tensor<6x200xf32> =
// SIX-NEXT: {{^}}[{{\[}}0. 0. 0. ... 0. 0. 0.]{{$}}
// SIX-COUNT-4: {{^}} [0. 0. 0. ... 0. 0. 0.]{{$}}
// SIX-NEXT: {{^}} [0. 0. 0. ... 0. 0. 0.]]{{$}}
// SIX-NOT: {{.}}

// SEVEN:      y: tensor<7x200xf32> =
// SEVEN-NEXT: {{^}}[{{\[}}0. 0. 0. ... 0. 0. 0.]{{$}}
// SEVEN-NEXT: {{^}} [0. 0. 0. ... 0. 0. 0.]{{$}}
// SEVEN-NEXT: {{^}} [0. 0. 0. ... 0. 0. 0.]{{$}}
// SEVEN-NEXT: {{^}} ...{{$}}
// SEVEN-COUNT-2: {{^}} [0. 0. 0. ... 0. 0. 0.]{{$}}
// SEVEN-NEXT: {{^}} [0. 0. 0. ... 0. 0. 0.]]{{$}}
// SEVEN-NOT: {{.}}
