# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Layers with the names, defaults and parameters of torch.nn. A model is a tree of its parameters: an argument of a
traced function, whose gradient is such a model.

Layers that need operations that do not exist yet (Embedding, convolutions, BatchNorm) are missing.
"""

from . import functional
from ._attention import (
    LlamaDecoderLayer,
    MultiheadAttention,
    TransformerEncoder,
    TransformerEncoderLayer,
)
from ._layers import (
    ELU,
    GELU,
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    LayerNorm,
    LeakyReLU,
    Linear,
    LogSoftmax,
    MSELoss,
    NLLLoss,
    ReLU,
    RMSNorm,
    Sequential,
    Sigmoid,
    SiLU,
    SmoothL1Loss,
    Softmax,
    Softplus,
    Tanh,
)
from ._module import Initializer, Module
from ._recurrent import GRU, LSTM

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "ELU",
    "GELU",
    "GRU",
    "HuberLoss",
    "Initializer",
    "KLDivLoss",
    "L1Loss",
    "LSTM",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LlamaDecoderLayer",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "MultiheadAttention",
    "NLLLoss",
    "RMSNorm",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "Softmax",
    "Softplus",
    "Tanh",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "functional",
]
