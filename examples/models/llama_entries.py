# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The @main of a Llama program: its result, loss, gradients, a training step, or a whole training run."""

from llama_text import Llama, listing


def signature(arguments, donated=()):
    """`donated` are the arguments whose memory the results of the same number take."""
    words = []
    for name, kind in arguments.items():
        donation = f", ad.donated = {list(donated).index(name)}" if name in donated else ""
        parameter = ", ad.parameter" if name in donated else ""
        words.append(f'%{name}: {kind} {{ad.name = "{name}"{parameter}{donation}}}')
    return listing(words)


def main_function(arguments, results, body, values, donated=()):
    """@main with named results, each `values` of the body."""
    named = listing(f'{kind} {{ad.name = "{name}"}}' for name, kind in results)
    kinds = listing(kind for _, kind in results)
    return (f"func.func @main({signature(arguments, donated)})\n    -> ({named}) {{\n{body}"
            f"  return {listing(values)} : {kinds}\n}}\n")


def forward(llama):
    arguments = llama.forward_arguments()
    body = llama.call("y", llama.config.part, arguments, llama.result())
    return main_function(arguments, [("y", llama.result())], body, ["%y"])


def loss(llama):
    arguments = llama.loss_arguments()
    return main_function(arguments, [("loss", llama.scalar)], llama.call("loss", "loss", arguments, llama.scalar),
                         ["%loss"])


def gradient(llama):
    table = llama.differentiated()
    results = [("loss", llama.scalar), *((f"d_{name}", kind) for name, kind in table.items())]
    return main_function(llama.loss_arguments(), results, llama.gradient(table),
                         ["%loss", *map(llama.gradient_of, range(len(table)))])


def descend(number, value, kind, llama):
    """%new_NUMBER = value - rate * gradient"""
    return (f"  %change_{number} = ad.mul {llama.gradient_of(number)}, %rate : {kind}, {llama.scalar}\n"
            f"  %new_{number} = ad.sub %{value}, %change_{number} : {kind}\n")


def step(llama):
    """One step of gradient descent: the new parameters take the memory of the old ones."""
    table, arguments = llama.parameter_types(), llama.loss_arguments()
    body = llama.gradient(table) + rate(llama)
    body += "".join(descend(i, name, kind, llama) for i, (name, kind) in enumerate(table.items()))
    values = [*(f"%new_{i}" for i in range(len(table))), "%loss"]
    return main_function(arguments, [*table.items(), ("loss", llama.scalar)], body, values, tuple(table))


def rate(llama):
    return f"  %rate = ad.constant dense<{llama.config.rate:e}> : {llama.scalar}\n"


class Training:
    """The loop: each iteration is fed a batch, sends its loss to the host, and carries the new parameters."""

    def __init__(self, llama):
        self.llama, self.adam = llama, llama.config.optimizer == "adam"
        self.table = llama.parameter_types()

    def feeds(self):
        """The next batch. Dynamic sizes are fed, too, so that each batch may have others."""
        llama = self.llama
        lines, dynamic = "", [name for name, size in (("batch", "B"), ("length", "L")) if llama.size(size) == "?"]
        for name in dynamic:
            lines += (f'  %fed_{name} = ad.feed "{name}" : tensor<i64>\n'
                      f"  %integer_{name} = tensor.extract %fed_{name}[] : tensor<i64>\n"
                      f"  %{name} = arith.index_cast %integer_{name} : i64 to index\n")
        for name, shape, element in (llama.config.input(), llama.config.target()):
            lines += f'  %{name} = ad.feed "{name}"{llama.sizes(*shape)} : {llama.tensor(*shape, element=element)}\n'
        return lines

    def constants(self):
        scalar = self.llama.scalar
        lines = ("  %first = arith.constant 1 : index\n"
                 f"  %end = arith.constant {self.llama.config.steps + 1} : index\n{rate(self.llama)}")
        if not self.adam:
            return lines
        numbers = {"one": 1, "beta1": 0.9, "beta2": 0.999, "rest1": 0.1, "rest2": 0.001, "tiny": 1e-8}
        lines += "".join(f"  %{name} = ad.constant dense<{x:e}> : {scalar}\n" for name, x in numbers.items())
        return lines + "".join(f"  %zero_{i} = ad.constant dense<0.0> : {kind}\n"
                               for i, kind in enumerate(self.table.values()))

    # adjoint.text.optim updates f32 parameters or 16-bit ones with f32 states. These programs compute in one type, f64
    # included, which the tests compare with NumPy; and they are written by NumPy alone, without the package.
    def corrections(self):
        """1 - beta^step: what the moments, which start at zero, are divided by."""
        scalar, element = self.llama.scalar, self.llama.config.element
        return (f"  %integer = arith.index_cast %step : index to i64\n  %float = arith.sitofp %integer : i64 to {element}\n"
                f"  %count = ad.full %float : {element} -> {scalar}\n"
                + "".join(f"  %power{i} = ad.pow %beta{i}, %count : {scalar}\n"
                          f"  %weight{i} = ad.sub %one, %power{i} : {scalar}\n" for i in (1, 2)))

    def update(self, i, kind):
        """%new_I, and of Adam the moments %m_next_I and %v_next_I."""
        scalar, gradient = self.llama.scalar, self.llama.gradient_of(i)
        if not self.adam:
            return descend(i, f"p_{i}", kind, self.llama)
        return f"""\
  %m_kept_{i} = ad.mul %m_{i}, %beta1 : {kind}, {scalar}
  %m_added_{i} = ad.mul {gradient}, %rest1 : {kind}, {scalar}
  %m_next_{i} = ad.add %m_kept_{i}, %m_added_{i} : {kind}
  %v_kept_{i} = ad.mul %v_{i}, %beta2 : {kind}, {scalar}
  %square_{i} = ad.mul {gradient}, {gradient} : {kind}
  %v_added_{i} = ad.mul %square_{i}, %rest2 : {kind}, {scalar}
  %v_next_{i} = ad.add %v_kept_{i}, %v_added_{i} : {kind}
  %m_fair_{i} = ad.div %m_next_{i}, %weight1 : {kind}, {scalar}
  %v_fair_{i} = ad.div %v_next_{i}, %weight2 : {kind}, {scalar}
  %root_{i} = ad.sqrt %v_fair_{i} : {kind}
  %divisor_{i} = ad.add %root_{i}, %tiny : {kind}, {scalar}
  %direction_{i} = ad.div %m_fair_{i}, %divisor_{i} : {kind}
  %change_{i} = ad.mul %direction_{i}, %rate : {kind}, {scalar}
  %new_{i} = ad.sub %p_{i}, %change_{i} : {kind}
"""

    def main(self):
        kinds, names = list(self.table.values()), list(self.table)
        numbers = range(len(kinds))
        carried = [(f"p_{i}", names[i], f"new_{i}") for i in numbers]
        if self.adam:
            carried += [(f"{m}_{i}", f"zero_{i}", f"{m}_next_{i}") for m in "mv" for i in numbers]
        all_kinds = listing(kinds * (3 if self.adam else 1))
        number_of = {name: f"p_{i}" for i, name in enumerate(names)}
        body = f"""\
{self.constants()}\
  %r:{len(carried)} = scf.for %step = %first to %end step %first
      iter_args({listing(f"%{inside} = %{before}" for inside, before, _ in carried)})
      -> ({all_kinds}) {{
{self.feeds()}{self.llama.gradient(self.table, lambda name: number_of.get(name, name))}\
  ad.receive "loss"(%loss) : {self.llama.scalar}
{self.corrections() if self.adam else ""}\
{"".join(self.update(i, kind) for i, kind in enumerate(kinds))}\
  scf.yield {listing(f"%{after}" for _, _, after in carried)} : {all_kinds}
  }}
"""
        arguments = {**self.table, **self.llama.table_types()}
        return main_function(arguments, list(self.table.items()), body, [f"%r#{i}" for i in numbers], tuple(names))


ENTRIES = {"forward": forward, "loss": loss, "gradient": gradient, "step": step,
           "train": lambda llama: Training(llama).main()}


def program(config):
    """The text of the whole program."""
    llama = Llama(config)
    sizes = "x".join(str(llama.size(size)) for size in ("B", "L", config.width))
    title = f"// Llama, {config.part}, {config.entry}, {sizes}. Written by examples/models/llama.py.\n"
    return "\n".join([title, *llama.functions(), ENTRIES[config.entry](llama)])
