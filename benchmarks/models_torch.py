# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The models of models_cases.py in PyTorch, as they are and through torch.compile. Importing it needs PyTorch."""

import logging

import torch
from torch import nn
from torch.nn import functional

import llama
import torch_llama
from models_cases import BETA1, BETA2, DECAY, EPSILON, RATE
from models_double import HEADS, LLAMA_NAMES

VERSION = f"torch {torch.__version__}"
torch.set_num_threads(1)
torch._logging.set_logs(all=logging.ERROR)  # it warns of the profiler's marks in torch.optim


class Attention(nn.Module):
    """Causal attention, with the parameters of nn.MultiheadAttention."""

    def __init__(self, width):
        super().__init__()
        self.in_proj_weight = nn.Parameter(torch.empty(3 * width, width))
        self.in_proj_bias = nn.Parameter(torch.empty(3 * width))
        self.out_proj = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = functional.linear(x, self.in_proj_weight, self.in_proj_bias).split(width, dim=2)
        q, k, v = (part.view(batch, length, HEADS, width // HEADS).transpose(1, 2) for part in parts)
        joined = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out_proj(joined.transpose(1, 2).reshape(batch, length, width))


class Gpt2Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2, self.attention = nn.LayerNorm(width), nn.LayerNorm(width), Attention(width)
        self.expand, self.contract = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.contract(functional.gelu(self.expand(self.norm2(x)), approximate="tanh"))


class LlamaBlock(nn.Module):
    """The function of torch_llama.py as a module."""

    def __init__(self, parameters, length):
        super().__init__()
        self.tables = [torch.from_numpy(table) for table in llama.rotary(length)]
        for short, name in LLAMA_NAMES.items():
            self.register_parameter(short, nn.Parameter(torch.from_numpy(parameters[name].copy())))

    def forward(self, x):
        return torch_llama.forward(dict(self.named_parameters()), x, self.tables)


def make_model(case):
    """The module with the parameters of the case."""
    parameters, x = case.parameters, case.data[0]
    if case.model == "llama_block":
        return LlamaBlock(parameters, x.shape[1])
    if case.model == "gpt2":
        model = Gpt2Block(x.shape[-1])
    elif case.model == "lstm":
        rows, columns = parameters["weight_ih_l0"].shape
        model = nn.LSTM(columns, rows // 4, batch_first=True)
    else:
        widths = [x.shape[1], *(value.shape[0] for name, value in parameters.items() if name.endswith("bias"))]
        layers = [layer for pair in zip(widths, widths[1:]) for layer in (nn.Linear(*pair), nn.ReLU())]
        model = nn.Sequential(*layers[:-1])
    model.load_state_dict({name: torch.from_numpy(value) for name, value in parameters.items()})
    return model


def loss_of(case):
    if case.model == "mlp":
        return lambda model, x, labels: functional.cross_entropy(model(x), labels)
    if case.model == "lstm":
        return lambda model, x, target: functional.mse_loss(model(x)[0], target)
    return lambda model, x, target: functional.mse_loss(model(x), target)


class Contender:
    """The step of a case; what is compiled is compiled when it is first called. AdamW is the fused one where it is not
    compiled by itself."""

    def __init__(self, case, compiled):
        self.case, self.compiled = case, compiled
        if case.model:
            self.model, self.loss = make_model(case), torch.compile(loss_of(case)) if compiled else loss_of(case)
            self.parameters = {LLAMA_NAMES.get(name, name): value for name, value in self.model.named_parameters()}
            x, target = map(torch.from_numpy, case.data)
            self.x = x.requires_grad_(case.has_input_gradient)
            self.target = target.long() if case.model == "mlp" else target
        else:
            self.parameters = {name: nn.Parameter(torch.from_numpy(value.copy()))
                               for name, value in case.parameters.items()}
            for name, value in self.parameters.items():
                value.grad = torch.from_numpy(case.data[0][name])
        if case.has_update:
            kind = {"foreach": True} if compiled and not case.model else {"fused": True}
            self.optimizer = torch.optim.AdamW(self.parameters.values(), lr=RATE, betas=(BETA1, BETA2), eps=EPSILON,
                                               weight_decay=DECAY, **kind)
            self.update = torch.compile(self.optimizer.step) if "foreach" in kind else self.optimizer.step

    def restart(self):
        """From the first parameters again."""
        if self.case.has_update:
            with torch.no_grad():
                for name, value in self.parameters.items():
                    value.copy_(torch.from_numpy(self.case.parameters[name]))
                    for moment in self.optimizer.state[value].values():
                        moment.zero_()

    def step(self):
        if not self.case.model:
            self.update()
            return
        value = self.loss(self.model, self.x, self.target)
        if self.case.has_update:
            self.optimizer.zero_grad()
            value.backward()
            self.update()
            self.state = value.detach()
        else:
            wrt = [*self.parameters.values(), *([self.x] if self.case.has_input_gradient else [])]
            self.state = value.detach(), torch.autograd.grad(value, wrt)

    def results(self):
        """Those of Case.truth, after the last step."""
        if self.case.has_update:
            state = {name: self.optimizer.state[value] for name, value in self.parameters.items()}
            first, second = ({name: value[key].numpy() for name, value in state.items()}
                             for key in ("exp_avg", "exp_avg_sq"))
            values = {name: value.detach().numpy() for name, value in self.parameters.items()}
            return {**({"loss": self.state.numpy()} if self.case.model else {}),
                    **self.case.updated(values, first, second)}
        loss, gradients = self.state
        names = [*self.parameters, *(["x"] if self.case.has_input_gradient else [])]
        return {"loss": loss.numpy(), **{f"d_{name}": value.numpy() for name, value in zip(names, gradients)}}


def contenders(case):
    torch._dynamo.reset()  # a function is compiled for a limited number of types and shapes
    return {"torch-compile": Contender(case, True), "torch-eager": Contender(case, False)}
