# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Programs that prove derivative rules: <J v, w> by Richardson differences against <v, J^T w> by ad.vjp.

The second order does the same to the function that computes J^T w.
"""

from case import Argument

STEP = 2e-3


class Writer:
    def __init__(self):
        self.lines = []
        self.count = 0

    def emit(self, text):
        self.lines.append("  " + text)

    def value(self, text):
        self.count += 1
        name = f"%v{self.count}"
        self.emit(f"{name} = {text}")
        return name

    def number(self, value):
        return self.value(f"ad.constant dense<{value:.17e}> : tensor<f64>")

    def scaled(self, value, argument, factor):
        kind = argument.mlir()
        return self.value(f"ad.mul {value}, {self.number(factor)} : {kind}, tensor<f64>" if argument.type else
                          f"ad.mul {value}, {self.number(factor)} : {kind}")

    def inner(self, lhs, rhs, argument):
        """The sum of the products of all elements."""
        product = self.value(f"ad.mul {lhs}, {rhs} : {argument.mlir()}")
        if not argument.type:
            return product
        axes = list(range(argument.type.count("x") + 1))
        return self.value(f"ad.reduce_sum {product} axes {axes} : {argument.mlir()} -> tensor<f64>")

    def inner_of_all(self, left, right, arguments):
        total = None
        for lhs, rhs, argument in zip(left, right, arguments):
            part = self.inner(lhs, rhs, argument)
            total = part if total is None else self.value(f"ad.add {total}, {part} : tensor<f64>")
        return total


class Function:
    """A function to differentiate: what goes in, what comes out, which inputs are differentiated."""

    def __init__(self, name, arguments, results, wrt):
        self.name, self.arguments, self.results, self.wrt = name, arguments, results, wrt

    def inputs(self):
        return ", ".join(argument.mlir() for argument in self.arguments)

    def outputs(self, results):
        return "(" + ", ".join(result.mlir() for result in results) + ")"

    def parameters(self, prefix="%a"):
        return ", ".join(f"{prefix}{i}: {argument.mlir()}" for i, argument in enumerate(self.arguments))

    def gradient_types(self):
        return [self.arguments[index] for index in self.wrt]

    def call(self, writer, values):
        count = len(self.results)
        name = writer.value(f"func.call @{self.name}({', '.join(values)}) : ({self.inputs()}) -> "
                            f"{self.outputs(self.results)}")
        if count == 1:
            return [name]
        writer.lines[-1] = writer.lines[-1].replace(f"{name} =", f"{name}:{count} =", 1)
        return [f"{name}#{index}" for index in range(count)]

    def vjp(self, writer, values, cotangents):
        results, gradients = len(self.results), self.gradient_types()
        count = results + len(gradients)
        kinds = ", ".join([self.inputs()] + [result.mlir() for result in self.results])
        name = writer.value(f"ad.vjp @{self.name}({', '.join(values)}) cotangents({', '.join(cotangents)}) "
                            f"wrt {self.wrt} : ({kinds}) -> {self.outputs(self.results + gradients)}")
        writer.lines[-1] = writer.lines[-1].replace(f"{name} =", f"{name}:{count} =", 1)
        return [f"{name}#{index}" for index in range(results, count)]


def primal(case, name):
    lines = [f"func.func private @{name}({Function(name, case.arguments, [], []).parameters()}) -> {case.result.mlir()} {{"]
    lines += ["  " + line for line in case.lines] + [f"  return %y : {case.result.mlir()}", "}"]
    return "\n".join(lines), Function(name, case.arguments, [case.result], case.wrt())


def open_sizes(argument, index):
    """Lines that make %a<index> of %s<index>, whose sizes are in its type: the type of the result leaves sizes open
    that are constants."""
    source, sizes, lines = f"%s{index}", [], []
    for axis, size in enumerate(argument.type.split("x")):
        if size == "?":
            sizes.append(f"%n{index}_{axis}")
            lines.append(f"{sizes[-1]} = arith.constant {argument.run_time_shape()[axis]} : index")
    known = argument.with_known_sizes()
    return lines + [f"%a{index} = ad.broadcast {source}({', '.join(sizes)}) : {known.mlir()} -> {argument.mlir()}"]


def known_primal(case, name):
    """The function of the case on arguments and a result whose types say all sizes; its body works on open types."""
    lines, arguments, parameters = [], [], []
    for index, argument in enumerate(case.arguments):
        if argument.is_dynamic():
            lines += open_sizes(argument, index)
        arguments.append(argument.with_known_sizes() if argument.is_dynamic() else argument)
        parameters.append(f"{'%s' if argument.is_dynamic() else '%a'}{index}: {arguments[-1].mlir()}")
    lines, result = lines + case.lines, case.result.with_known_sizes()
    if case.result.is_dynamic():
        lines.append(f"%known = ad.reshape %y : {case.result.mlir()} -> {result.mlir()}")
    lines.append(f"return {'%known' if case.result.is_dynamic() else '%y'} : {result.mlir()}")
    text = "\n".join([f"func.func private @{name}({', '.join(parameters)}) -> {result.mlir()} {{"]
                     + ["  " + line for line in lines] + ["}"])
    return text, Function(name, arguments, [result], case.wrt())


def gradient(function, name):
    """The function (inputs, cotangents) -> gradients, differentiated in everything that is a float."""
    arguments = function.arguments + function.results
    wrt = function.wrt + list(range(len(function.arguments), len(arguments)))
    derived = Function(name, arguments, function.gradient_types(), wrt)
    writer = Writer()
    values = [f"%a{index}" for index in range(len(arguments))]
    gradients = function.vjp(writer, values[:len(function.arguments)], values[len(function.arguments):])
    kinds = ", ".join(argument.mlir() for argument in function.gradient_types())
    header = f"func.func private @{name}({derived.parameters()}) -> {derived.outputs(derived.results)} {{"
    return "\n".join([header] + writer.lines + [f"  return {', '.join(gradients)} : {kinds}", "}"]), derived


def check(writer, function, values, directions, cotangents, tolerance):
    """Compares both sides of the dot-product test at `values`; gives the name of one side."""
    def at(step):
        moved = list(values)
        for index, direction in zip(function.wrt, directions):
            argument = function.arguments[index]
            moved[index] = writer.value(f"ad.add {values[index]}, {writer.scaled(direction, argument, step)} : "
                                        f"{argument.mlir()}")
        return writer.inner_of_all(function.call(writer, moved), cotangents, function.results)

    def difference(step):
        return writer.value(f"ad.sub {at(step)}, {at(-step)} : tensor<f64>")

    fine = writer.scaled(difference(STEP / 2), Argument(""), 8.0)
    coarse = difference(STEP)
    expected = writer.scaled(writer.value(f"ad.sub {fine}, {coarse} : tensor<f64>"), Argument(""), 1 / (6 * STEP))
    gradients = function.vjp(writer, values, cotangents)
    actual = writer.inner_of_all(gradients, directions, function.gradient_types())
    writer.emit(f"check.expect_almost_eq({actual}, {expected}) {{relative, tolerance = {tolerance:e} : f64}} : tensor<f64>")
    return actual


def narrow(argument, element):
    """The same argument with another float element."""
    if argument.element != "f64":
        return argument
    return Argument(argument.type, argument.shape, argument.low, argument.high, argument.wrt, None, element)


def narrow_primal(case, name, element):
    """The function of the case on another float type; f64 stays where it is the type of an attribute."""
    text, function = primal(case, name)
    text = text.replace("xf64>", f"x{element}>").replace("tensor<f64>", f"tensor<{element}>")
    types = [narrow(argument, element) for argument in function.arguments]
    return text, Function(name, types, [narrow(result, element) for result in function.results], function.wrt)


def compare_types(writer, wide, function, values, cotangents, tolerance):
    """Compares the gradients of a function in a narrow type with those of its f64 form at the same numbers."""
    def cast(value, source, target):
        if source.mlir() == target.mlir():
            return value
        return writer.value(f"ad.cast {value} : {source.mlir()} -> {target.mlir()}")

    def rounded(names, wides, narrows):
        low = [cast(name, source, target) for name, source, target in zip(names, wides, narrows)]
        return low, [cast(name, source, target) for name, source, target in zip(low, narrows, wides)]

    low_values, high_values = rounded(values, wide.arguments, function.arguments)
    low_cotangents, high_cotangents = rounded(cotangents, wide.results, function.results)
    expected = wide.vjp(writer, high_values, high_cotangents)
    actual = function.vjp(writer, low_values, low_cotangents)
    for got, want, source, target in zip(actual, expected, function.gradient_types(), wide.gradient_types()):
        last = cast(got, source, target)
        writer.emit(f"check.expect_almost_eq({last}, {want}) {{tolerance = {tolerance:e} : f64}} : {target.mlir()}")
