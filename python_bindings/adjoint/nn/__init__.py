# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Layers with the names, defaults and parameters of torch.nn. A model is a tree of its parameters: an argument of a
traced function, whose gradient is such a model.

BatchNorm is missing.
"""

from . import functional
from ._attention import (
    LlamaDecoderLayer,
    MultiheadAttention,
    TransformerEncoder,
    TransformerEncoderLayer,
)
from ._convolutions import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
    Flatten,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
)
from ._layers import (
    ELU,
    GELU,
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    Embedding,
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
from ._norms import GroupNorm, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from ._recurrent import GRU, LSTM
from ._safetensors import load_safetensors, save_safetensors

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "CrossEntropyLoss",
    "ELU",
    "Embedding",
    "Flatten",
    "GELU",
    "GRU",
    "GroupNorm",
    "HuberLoss",
    "Initializer",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "KLDivLoss",
    "L1Loss",
    "LSTM",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LlamaDecoderLayer",
    "LogSoftmax",
    "MSELoss",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
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
    "load_safetensors",
    "save_safetensors",
]

_MISSING = {
    "EmbeddingBag": "the sum or mean of the rows of nn.Embedding is the same",
    "Dropout": "nn.functional.dropout(x, p, key=key) takes a key",
    "ModuleList": "a module may have a list of modules",
    "ModuleDict": "a module may have a dict of modules",
    "Parameter": "an array that a module has is a parameter",
    **dict.fromkeys(
        ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d"),
        "it changes its statistics while it is used; GroupNorm and LayerNorm do not",
    ),
}


def __getattr__(name: str) -> object:
    hint = _MISSING.get(name, f"its layers are {', '.join(__all__)}")
    raise AttributeError(f"adjoint.nn has no {name}: {hint}")
