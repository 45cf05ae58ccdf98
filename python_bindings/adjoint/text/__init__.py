# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Text of programs in the `ad` dialect: optimizers, loss scaling and training loops.

The modules return functions as text, which a program contains next to its own. They are traced from adjoint.optim.
"""
