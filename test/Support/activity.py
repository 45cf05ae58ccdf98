# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random functions from a tensor to a number, drawn from constructs that carry derivatives in every way that values can
take: scalars, tensors made of scalars, branches, loops, calls, captured values, memory, complex numbers, reinterpreted
bits. Each construct is the text of some operations and the same function by NumPy, so that differences of the NumPy
function say what the gradient is. A construct that has no derivative names the operation that an error has to name."""

import math
import re

import numpy as np

SIZE = 3
NAME = re.compile(r'(?:%[^=]*= )?"?([\w.]+)')

# What chains call and name; `T` is the element type. Only those without a derivative use what is outside.
OUTSIDE = """func.func private @declared(T) -> T
func.func private @declared_tensor(tensor<3xT>) -> tensor<3xT>
func.func private @kept(T)
memref.global @global : memref<T>
"""
FUNCTIONS = """func.func private @square_plus(%a: T, %b: T) -> T {
  %c = arith.mulf %a, %a : T
  %d = arith.addf %c, %b : T
  return %d : T
}
"""

erf = np.vectorize(math.erf)
sigmoid = lambda x: 1 / (1 + np.exp(-x))
gelu = lambda x: x * (1 + erf(x / math.sqrt(2))) / 2
gelu_tanh = lambda x: x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
ELEMENTARY = {"exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "sin": np.sin, "cos": np.cos, "tan": np.tan,
              "tanh": np.tanh, "erf": erf, "sigmoid": sigmoid, "silu": lambda x: x * sigmoid(x), "gelu": gelu,
              "gelu_tanh": gelu_tanh, "softplus": lambda x: np.log1p(np.exp(x))}
# Functions of a positive number.
POSITIVE = {"log": np.log, "log2": np.log2, "log1p": np.log1p, "sqrt": np.sqrt, "rsqrt": lambda x: x**-0.5,
            "recip": lambda x: 1 / x}


class Chain:
    """A function under construction: its lines, the values so far by name, and the same by NumPy."""

    def __init__(self, rng, element):
        self.rng, self.element = rng, element
        self.lines, self.steps, self.count = [], [], 0
        self.scalars, self.tensors = [], ["x"]
        # (number of a line, what an error there has to name)
        self.refused = []
        self.attributes = " attributes {ad.cotangent_sums = f32}" if rng.random() < 0.3 else ""
        # Values that the result has to depend on.
        self.used = []
        self.tolerance = {"f64": 1e-7, "f32": 3e-4, "f16": 0.1, "bf16": 0.5}[element]

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def emit(self, *lines, **names):
        """Lines, in which {e} is the element type and {t} the tensor type. A line that begins with `!` has no
        derivative."""
        for line in lines:
            if line.startswith("!"):
                line = line[1:]
                self.refused.append((len(self.lines), NAME.match(line).group(1)))
            bits = {"f64": "i64", "f32": "i32", "f16": "i16", "bf16": "i16"}[self.element]
            self.lines.append(line.format(e=self.element, t=f"tensor<{SIZE}x{self.element}>", bits=bits, **names))

    def scalar(self):
        """A scalar, a new element of a tensor if there is none."""
        if self.scalars and self.rng.random() < 0.8:
            return self.rng.choice(self.scalars[-4:])
        extract_constant(self)
        return self.scalars[-1]

    def tensor(self):
        return self.rng.choice(self.tensors[-3:])

    def add(self, kind, name, function):
        (self.scalars if kind == "scalar" else self.tensors).append(name)
        self.steps.append((name, function))

    def tame(self):
        """Keeps the last value in a range where all functions are smooth and not too steep."""
        if self.scalars and self.steps and self.steps[-1][0] == self.scalars[-1]:
            s, y = self.scalars[-1], self.name()
            self.emit("%{y} = ad.elementary tanh %{s} : {e}" if self.element in ("f32", "f64")
                      else "%{y} = arith.mulf %{s}, %half : {e}", s=s, y=y)
            self.add("scalar", y, (lambda v, s=s: np.tanh(v[s])) if self.element in ("f32", "f64")
                     else lambda v, s=s: v[s] / 2)

    def evaluate(self, x, flag, table):
        values = {"x": np.array(x, float), "flag": flag, "table": table}
        for name, function in self.steps:
            values[name] = function(values)
        return sum((1 + 0.25 * i) * np.sum(values[name]) for i, name in enumerate(self.results()))

    def results(self):
        """What the function adds: the last values, and those that must be used."""
        return list(dict.fromkeys([self.tensors[-1], *self.scalars[-2:], *self.used]))

    def function(self, name):
        element, tensor = self.element, f"tensor<{SIZE}x{self.element}>"
        head = [f"func.func private @{name}(%x: {tensor}, %cond: tensor<i1>, %table: {tensor}) -> tensor<{element}>"
                f"{self.attributes} {{"]
        start = ["%flag = tensor.extract %cond[] : tensor<i1>", f"%half = arith.constant 5.0e-01 : {element}",
                 f"%one = arith.constant 1.0 : {element}", f"%two = arith.constant 2.0 : {element}",
                 "%power = arith.constant 3 : i32", "%index = arith.index_castui %flag : i1 to index",
                 *(f"%i{i} = arith.constant {i} : index" for i in range(SIZE + 1))]
        end, total = [], None
        for i, value in enumerate(self.results()):
            part = f"part{i}"
            if value in self.tensors:
                end.append(f"%{part} = ad.reduce_sum %{value} axes [0] : {tensor} -> tensor<{element}>")
            else:
                end.append(f"%{part} = ad.full %{value} : {element} -> tensor<{element}>")
            end += [f"%w{i} = ad.constant dense<{1 + 0.25 * i}> : tensor<{element}>",
                    f"%p{i} = ad.mul %{part}, %w{i} : tensor<{element}>"]
            if total:
                end.append(f"%s{i} = ad.add %{total}, %p{i} : tensor<{element}>")
            total = f"s{i}" if total else f"p{i}"
        lines = ["  " + line for line in start + self.lines + end + [f"return %{total} : tensor<{element}>"]]
        self.first = len(head) + len(start)
        return "\n".join(head + lines + ["}", ""])


def gradient(chain, x, flag, table, step=1e-3):
    """By Richardson's extrapolation of central differences."""
    found = []
    for i in range(SIZE):
        unit = np.eye(SIZE)[i]
        at = lambda h: chain.evaluate(x + h * unit, flag, table)
        central = lambda h: (at(h) - at(-h)) / (2 * h)
        found.append((4 * central(step / 2) - central(step)) / 3)
    return np.array(found)


def is_smooth(chain, x, flag, table):
    """Whether the differences of two widths agree: no kink is near. Roundings of 16-bit floats go further."""
    width, tolerance = (0.1, 0.05) if chain.tolerance > 0.05 else (1e-3, 1e-6)
    with np.errstate(all="ignore"):
        coarse, fine = gradient(chain, x, flag, table, width), gradient(chain, x, flag, table, width / 10)
    scale = 1 + np.abs(fine).max()
    return np.isfinite(fine).all() and np.abs(fine).max() < 1e3 and np.abs(coarse - fine).max() < tolerance * scale


# Constructs: functions of a chain. Those of REFUSED have no derivative.
SCALARS, TENSORS, REFUSED = [], [], []


def construct(family):
    def register(function):
        family.append(function)
        return function
    return register


#===- From tensors to scalars and back -===#


@construct(SCALARS)
def extract_constant(c):
    t, s, i = c.tensor(), c.name(), c.rng.randrange(SIZE)
    c.emit("%{s} = tensor.extract %{x}[%i{i}] : {t}", s=s, x=t, i=i)
    c.add("scalar", s, lambda v: v[t][i])


@construct(SCALARS)
def extract_sum(c):
    t, s = c.tensor(), c.name()
    c.emit("%{s}r = ad.reduce_sum %{x} axes [0] : {t} -> tensor<{e}>", "%{s} = tensor.extract %{s}r[] : tensor<{e}>",
           s=s, x=t)
    c.add("scalar", s, lambda v: v[t].sum())


@construct(TENSORS)
def full(c):
    a, t = c.scalar(), c.name()
    c.emit("%{r} = ad.full %{a} : {e} -> {t}", a=a, r=t)
    c.add("tensor", t, lambda v: np.full(SIZE, v[a]))


@construct(TENSORS)
def full_rank_0(c):
    a, x, t = c.scalar(), c.tensor(), c.name()
    c.emit("%{r}f = ad.full %{a} : {e} -> tensor<{e}>", "%{r} = ad.mul %{x}, %{r}f : {t}, tensor<{e}>", a=a, r=t,
           x=x)
    c.add("tensor", t, lambda v: v[x] * v[a])


#===- Scalar arithmetic -===#


@construct(SCALARS)
def arithmetic(c):
    a, b, s = c.scalar(), c.scalar(), c.name()
    op, f = c.rng.choice([("addf", np.add), ("subf", np.subtract), ("mulf", np.multiply), ("maximumf", np.maximum),
                          ("minimumf", np.minimum)])
    c.emit("%{s} = arith.{op} %{a}, %{b} : {e}", op=op, a=a, b=b, s=s)
    c.add("scalar", s, lambda v: f(v[a], v[b]))


@construct(SCALARS)
def divide(c):
    a, b, s = c.scalar(), c.scalar(), c.name()
    c.emit("%{s}q = arith.mulf %{b}, %{b} : {e}", "%{s}d = arith.addf %{s}q, %one : {e}",
           "%{s}n = arith.negf %{a} : {e}", "%{s} = arith.divf %{s}n, %{s}d : {e}", a=a, b=b, s=s)
    c.add("scalar", s, lambda v: -v[a] / (1 + v[b]**2))


@construct(SCALARS)
def remainder(c):
    a, b, s = c.scalar(), c.scalar(), c.name()
    c.emit("%{s}q = arith.mulf %{b}, %{b} : {e}", "%{s}d = arith.addf %{s}q, %half : {e}",
           "%{s} = arith.remf %{a}, %{s}d : {e}", a=a, b=b, s=s)
    c.add("scalar", s, lambda v: np.fmod(v[a], v[b]**2 + 0.5))


@construct(SCALARS)
def elementary(c):
    if c.element not in ("f32", "f64"):
        return arithmetic(c)
    a, s, op = c.scalar(), c.name(), c.rng.choice(sorted(ELEMENTARY))
    c.emit("%{s} = ad.elementary {op} %{a} : {e}", op=op, a=a, s=s)
    c.add("scalar", s, lambda v: ELEMENTARY[op](v[a]))


@construct(SCALARS)
def elementary_of_positive(c):
    if c.element not in ("f32", "f64"):
        return divide(c)
    a, s, op = c.scalar(), c.name(), c.rng.choice(sorted(POSITIVE))
    c.emit("%{s}q = arith.mulf %{a}, %{a} : {e}", "%{s}d = arith.addf %{s}q, %half : {e}",
           "%{s} = ad.elementary {op} %{s}d : {e}", op=op, a=a, s=s)
    c.add("scalar", s, lambda v: POSITIVE[op](v[a]**2 + 0.5))


@construct(SCALARS)
def elementary_of_two(c):
    if c.element not in ("f32", "f64"):
        return remainder(c)
    a, b, s = c.scalar(), c.scalar(), c.name()
    op, f = c.rng.choice([("pow", np.power), ("atan2", np.arctan2)])
    c.emit("%{s}q = arith.mulf %{a}, %{a} : {e}", "%{s}d = arith.addf %{s}q, %half : {e}",
           "%{s} = ad.elementary {op} %{s}d, %{b} : {e}", op=op, a=a, b=b, s=s)
    c.add("scalar", s, lambda v: f(v[a]**2 + 0.5, v[b]))


@construct(SCALARS)
def casts(c):
    """To a narrower or wider type and back; the differences do not see the rounding."""
    a, s = c.scalar(), c.name()
    other = c.rng.choice([t for t in ("f64", "f32", "bf16") if t != c.element])
    width = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16}
    if width[other] == width[c.element]:
        other = "f32"
    there, back = ("truncf", "extf") if width[other] < width[c.element] else ("extf", "truncf")
    if c.rng.random() < 0.3:
        c.emit("%{s}c = ad.convert %{a} : {e} to {o}", "%{s} = ad.convert %{s}c : {o} to {e}", a=a, s=s, o=other)
    else:
        c.emit("%{s}c = arith.{there} %{a} : {e} to {o}", "%{s} = arith.{back} %{s}c : {o} to {e}", a=a, s=s, o=other,
               there=there, back=back)
    c.tolerance = max(c.tolerance, {"f64": 0, "f32": 3e-4, "bf16": 0.2}[other])
    c.add("scalar", s, lambda v: v[a])


#===- Constants of the derivative -===#


@construct(SCALARS)
def truncation(c):
    a, s = c.scalar(), c.name()
    c.emit("%{s}t = arith.mulf %{a}, %two : {e}", "%{s}i = arith.fptosi %{s}t : {e} to i32",
           "%{s}f = arith.sitofp %{s}i : i32 to {e}", "%{s} = arith.addf %{s}f, %{a} : {e}", a=a, s=s)
    c.add("scalar", s, lambda v: np.trunc(2 * v[a]) + v[a])


@construct(TENSORS)
def rounding(c):
    x, t = c.tensor(), c.name()
    op, f = c.rng.choice([("floor", np.floor), ("ceil", np.ceil), ("round_even", np.round), ("sign", np.sign)])
    c.emit("%{r}r = ad.{op} %{x} : {t}", "%{r} = ad.add %{r}r, %{x} : {t}", op=op, x=x, r=t)
    c.add("tensor", t, lambda v: f(v[x]) + v[x])


@construct(TENSORS)
def inactive(c):
    """What does not depend on the argument: integers of it, tables, stopped gradients."""
    x, t = c.tensor(), c.name()
    c.emit("%{r}c = ad.mul %table, %{x} : {t}", x=x, r=t)
    c.add("tensor", t + "c", lambda v: v["table"] * v[x])
    c.emit("%{r}m = ad.compare gt %{x}, %table : {t}", "%{r} = ad.select %{r}m, %{r}c, %table : tensor<3xi1>, {t}, {t}",
           x=x, r=t)
    c.add("tensor", t, lambda v: np.where(v[x] > v["table"], v["table"] * v[x], v["table"]))


#===- Choices -===#


def condition(c):
    """The name of a boolean, known or by data, and its function."""
    if c.rng.random() < 0.5:
        return "flag", lambda v: v["flag"]
    a, k = c.scalar(), c.name()
    c.emit("%{k} = arith.cmpf ogt, %{a}, %half : {e}", k=k, a=a)
    return k, lambda v: v[a] > 0.5


@construct(SCALARS)
def select(c):
    (k, holds), a, s = condition(c), c.scalar(), c.name()
    b = c.rng.choice([c.scalar(), "two"])
    c.emit("%{s} = arith.select %{k}, %{a}, %{b} : {e}", k=k, a=a, b=b, s=s)
    c.add("scalar", s, lambda v: v[a] if holds(v) else v.get(b, 2.0))


@construct(TENSORS)
def select_tensor(c):
    (k, holds), x, t = condition(c), c.tensor(), c.name()
    c.emit("%{r} = arith.select %{k}, %{x}, %table : {t}", k=k, x=x, r=t)
    c.add("tensor", t, lambda v: v[x] if holds(v) else v["table"])


@construct(SCALARS)
def branch(c):
    (k, holds), a, b, s = condition(c), c.scalar(), c.scalar(), c.name()
    kind = c.rng.randrange(3)
    then = ["  scf.yield %{a} : {e}"] if kind == 0 else ["  %{s}t = arith.mulf %{a}, %{b} : {e}",
                                                          "  scf.yield %{s}t : {e}"]
    other = ["  scf.yield %two : {e}"] if kind < 2 else ["  %{s}o = arith.subf %{b}, %{a} : {e}",
                                                         "  scf.yield %{s}o : {e}"]
    c.emit("%{s} = scf.if %{k} -> {e} {{", *then, "}} else {{", *other, "}}", k=k, a=a, b=b, s=s)
    c.add("scalar", s, lambda v: (v[a] if kind == 0 else v[a] * v[b]) if holds(v) else 2.0 if kind < 2 else
          v[b] - v[a])


@construct(TENSORS)
def branch_tensor(c):
    (k, holds), a, x, t = condition(c), c.scalar(), c.tensor(), c.name()
    c.emit("%{r} = scf.if %{k} -> {t} {{", "  %{r}f = ad.full %{a} : {e} -> tensor<{e}>",
           "  %{r}m = ad.mul %{x}, %{r}f : {t}, tensor<{e}>", "  scf.yield %{r}m : {t}", "}} else {{",
           "  scf.yield %{x} : {t}", "}}", k=k, a=a, x=x, r=t)
    c.add("tensor", t, lambda v: v[x] * v[a] if holds(v) else v[x])


#===- Loops and calls -===#


@construct(SCALARS)
def loop(c):
    """A carried scalar; the body captures a scalar and reads an element of a captured tensor."""
    a, b, x, s, n = c.scalar(), c.scalar(), c.tensor(), c.name(), c.rng.randint(0, SIZE)
    c.emit("%{s} = scf.for %{s}i = %i0 to %i{n} step %i1 iter_args(%{s}a = %{a}) -> {e} {{",
           "  %{s}x = tensor.extract %{x}[%{s}i] : {t}", "  %{s}m = arith.mulf %{s}a, %{s}x : {e}",
           "  %{s}y = arith.addf %{s}m, %{b} : {e}", "  scf.yield %{s}y : {e}", "}}", a=a, b=b, x=x, s=s, n=n)

    def run(v):
        carried = v[a]
        for i in range(n):
            carried = carried * v[x][i] + v[b]
        return carried
    c.add("scalar", s, run)


@construct(TENSORS)
def loop_of_branches(c):
    a, x, t = c.scalar(), c.tensor(), c.name()
    c.emit("%{r}s, %{r} = scf.for %{r}i = %i0 to %i2 step %i1 iter_args(%{r}a = %{a}, %{r}x = %{x}) -> ({e}, {t}) {{",
           "  %{r}k = arith.cmpi eq, %{r}i, %i1 : index", "  %{r}b = scf.if %{r}k -> {e} {{",
           "    %{r}q = arith.mulf %{r}a, %{r}a : {e}", "    scf.yield %{r}q : {e}", "  }} else {{",
           "    scf.yield %{r}a : {e}", "  }}", "  %{r}f = ad.full %{r}b : {e} -> tensor<{e}>",
           "  %{r}m = ad.mul %{r}x, %{r}f : {t}, tensor<{e}>", "  scf.yield %{r}b, %{r}m : {e}, {t}", "}}", a=a,
           x=x, r=t)
    c.add("scalar", t + "s", lambda v: v[a]**2)
    c.add("tensor", t, lambda v: v[x] * v[a] * v[a]**2)


@construct(SCALARS)
def call(c):
    a, b, s = c.scalar(), c.scalar(), c.name()
    c.emit("%{s} = func.call @square_plus(%{a}, %{b}) : ({e}, {e}) -> {e}", a=a, b=b, s=s)
    c.add("scalar", s, lambda v: v[a]**2 + v[b])


@construct(TENSORS)
def tensor_code(c):
    x, y, t = c.tensor(), c.tensor(), c.name()
    kind = c.rng.randrange(3)
    if kind == 0:
        c.emit("%{r} = ad.tanh %{x} : {t}", x=x, r=t)
    elif kind == 1:
        c.emit("%{r} = ad.mul %{x}, %{y} : {t}", x=x, y=y, r=t)
    else:
        c.emit("%{r}d = tensor.cast %{x} : {t} to tensor<?x{e}>", "%{r} = tensor.cast %{r}d : tensor<?x{e}> to {t}",
               x=x, r=t)
    c.add("tensor", t, lambda v: [np.tanh(v[x]), v[x] * v[y], v[x]][kind])


#===- Refused -===#


def refuse(kind, *lines):
    """Operations from a scalar %{a} and a tensor %{x} to %{r}. Those that begin with `!` have no derivative."""
    def build(c):
        a, x, r = c.scalar(), c.tensor(), c.name()
        c.emit(*lines, a=a, x=x, r=r)
        c.add(kind, r, lambda v: v[a] if kind == "scalar" else v[x])
        c.used.append(r)
    REFUSED.append(build)


MEMORY = ["!memref.store %{a}, %{r}m[] : memref<{e}>", "!%{r} = memref.load %{r}m[] : memref<{e}>"]
refuse("scalar", "%{r}m = memref.alloca() : memref<{e}>", *MEMORY)
refuse("scalar", "%{r}m = memref.get_global @global : memref<{e}>", *MEMORY)
# An effect loses the derivative, whoever reads.
refuse("scalar", "!func.call @kept(%{a}) : ({e}) -> ()", "%{r} = arith.negf %{a} : {e}")
refuse("scalar", "scf.if %flag {{", "!func.call @kept(%{a}) : ({e}) -> ()", "}}", "%{r} = arith.negf %{a} : {e}")
refuse("scalar", "scf.for %{r}i = %i0 to %i2 step %i1 {{", '!"unknown.keep"(%{a}) : ({e}) -> ()', "}}",
       "%{r} = arith.negf %{a} : {e}")
refuse("scalar", "scf.while : () -> () {{", "scf.condition(%flag)", "}} do {{", '!"unknown.keep"(%{a}) : ({e}) -> ()',
       "scf.yield", "}}", "%{r} = arith.negf %{a} : {e}")
refuse("scalar", "!%{r} = func.call @declared(%{a}) : ({e}) -> {e}")
refuse("scalar", "%{r}f = func.constant @declared : ({e}) -> {e}",
       "!%{r} = func.call_indirect %{r}f(%{a}) : ({e}) -> {e}")
refuse("scalar", '!%{r} = "unknown.scalar"(%{a}) : ({e}) -> {e}')
refuse("scalar", '!%{r}b = "unknown.box"(%{a}) : ({e}) -> !unknown.box',
       '!%{r} = "unknown.open"(%{r}b) : (!unknown.box) -> {e}')
refuse("scalar", "!%{r}b = arith.bitcast %{a} : {e} to {bits}", "%{r}s = arith.addi %{r}b, %{r}b : {bits}",
       "%{r} = arith.bitcast %{r}s : {bits} to {e}")
refuse("scalar", "!%{r}c = complex.create %{a}, %half : complex<{e}>",
       "!%{r}m = complex.mul %{r}c, %{r}c : complex<{e}>",
       "!%{r} = complex.re %{r}m : complex<{e}>")
refuse("scalar", "!%{r}c = complex.create %{a}, %half : complex<{e}>",
       "!%{r}d = complex.create %two, %{a} : complex<{e}>",
       "%{r}k = arith.select %flag, %{r}d, %{r}c : complex<{e}>", "!%{r} = complex.im %{r}k : complex<{e}>")
refuse("scalar", "!%{r}v = vector.broadcast %{a} : {e} to vector<2x{e}>",
       "%{r}w = arith.mulf %{r}v, %{r}v : vector<2x{e}>", "!%{r} = vector.extract %{r}w[1] : {e} from vector<2x{e}>")
refuse("scalar", "!%{r} = math.copysign %{a}, %half : {e}")
refuse("scalar", "!%{r} = math.fpowi %{a}, %power : {e}, i32")
refuse("scalar", "!%{r} = llvm.intr.fabs(%{a}) : ({e}) -> {e}")
refuse("scalar", "%{r}p = llvm.mlir.undef : !llvm.struct<({e})>",
       "!%{r}q = llvm.insertvalue %{a}, %{r}p[0] : !llvm.struct<({e})>",
       '!%{r}u = "unknown.struct"(%{r}q) : (!llvm.struct<({e})>) -> !llvm.struct<({e})>',
       "!%{r} = llvm.extractvalue %{r}u[0] : !llvm.struct<({e})>")
refuse("scalar", "!%{r} = scf.execute_region -> {e} no_inline {{", "%{r}n = arith.negf %{a} : {e}",
       "scf.yield %{r}n : {e}", "}}")
refuse("scalar", "!%{r} = scf.index_switch %index -> {e}", "case 1 {{", "scf.yield %{a} : {e}", "}}", "default {{",
       "scf.yield %two : {e}", "}}")
refuse("scalar", "!%{r} = scf.while (%{r}w = %two) : ({e}) -> {e} {{", "%{r}p = arith.addf %{r}w, %{a} : {e}",
       "scf.condition(%flag) %{r}p : {e}", "}} do {{", "^bb0(%{r}v: {e}):", "scf.yield %{r}v : {e}", "}}")
refuse("tensor", "!%{r} = func.call @declared_tensor(%{x}) : ({t}) -> {t}")
refuse("tensor", '!%{r} = "unknown.tensor"(%{x}) : ({t}) -> {t}')
refuse("tensor", "!%{r} = tensor.generate {{", "^bb0(%{r}i: index):", "%{r}v = tensor.extract %{x}[%{r}i] : {t}",
       "tensor.yield %{r}v : {e}", "}} : {t}")
refuse("tensor", "%{r}e = tensor.empty() : {t}", "!%{r} = linalg.fill ins(%{a} : {e}) outs(%{r}e : {t}) -> {t}")
refuse("tensor", "%{r}e = tensor.empty() : {t}",
       '!%{r} = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}} '
       "outs(%{r}e : {t}) {{", "^bb0(%{r}o: {e}):", "linalg.yield %{a} : {e}", "}} -> {t}")
refuse("tensor", "!%{r} = scf.forall (%{r}i) in (3) shared_outs(%{r}o = %table) -> ({t}) {{",
       "%{r}s = tensor.extract_slice %{x}[%{r}i] [1] [1] : {t} to tensor<1x{e}>", "scf.forall.in_parallel {{",
       "tensor.parallel_insert_slice %{r}s into %{r}o[%{r}i] [1] [1] : tensor<1x{e}> into {t}", "}}", "}}")
refuse("tensor", "!%{r}m = bufferization.to_buffer %{x} : {t} to memref<3x{e}>",
       '!%{r} = "unknown.read"(%{r}m) : (memref<3x{e}>) -> {t}')
refuse("tensor", "%{r}l = arith.constant 3 : index", "!%{r}e = tensor.insert %{a} into %{x}[%i1] : {t}",
       "%{r} = ad.tanh %{r}e : {t}")
