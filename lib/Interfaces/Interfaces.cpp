// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Definitions of the project's operation interfaces.

#include "adjoint/Interfaces/DifferentiableOpInterface.h"
#include "adjoint/Interfaces/ElementwiseOpInterface.h"
#include "adjoint/Interfaces/FusableOpInterface.h"
#include "adjoint/Interfaces/LinalgLoweringOpInterface.h"
#include "adjoint/Interfaces/PartialReadOpInterface.h"
#include "adjoint/Interfaces/ReductionOpInterface.h"
#include "llvm/ADT/StringExtras.h"

#include "adjoint/Interfaces/ADEnums.cpp.inc"
#include "adjoint/Interfaces/DifferentiableOpInterface.cpp.inc"
#include "adjoint/Interfaces/ElementwiseOpInterface.cpp.inc"
#include "adjoint/Interfaces/FusableOpInterface.cpp.inc"
#include "adjoint/Interfaces/LinalgLoweringOpInterface.cpp.inc"
#include "adjoint/Interfaces/PartialReadOpInterface.cpp.inc"
#include "adjoint/Interfaces/ReductionOpInterface.cpp.inc"
