# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A gradient case: a function of f64 tensors that uses an operation, and where to take its inputs from."""

from dataclasses import dataclass, field


@dataclass
class Argument:
    """`type` is the shape as the program sees it ("?x3"), `shape` the one at run time."""

    type: str
    shape: tuple = ()
    low: float = -1.0
    high: float = 1.0
    wrt: bool = True
    values: list = None  # instead of random numbers: integers, never differentiated
    element: str = "f64"

    def mlir(self):
        return f"tensor<{self.type}x{self.element}>" if self.type else f"tensor<{self.element}>"

    def is_dynamic(self):
        return "?" in self.type

    def with_known_sizes(self):
        """The same argument with its sizes at run time in its type."""
        shape = "x".join(str(size) for size in self.run_time_shape())
        return Argument(shape, (), self.low, self.high, self.wrt, self.values, self.element)

    def run_time_shape(self):
        if self.shape or not self.type:
            return tuple(self.shape)
        return tuple(int(size) for size in self.type.split("x"))


@dataclass
class Case:
    """The body computes %y from %a0, %a1, …; {0}, {1}, … are the types of the arguments, {r} that of the result."""

    op: str
    name: str
    arguments: list
    body: str
    result: Argument
    second_order: bool = True
    tolerance: float = 1e-7
    seed: int = 0
    # As many numbers are multiplied with one another; each product rounds.
    factors: int = 1
    # The result by NumPy, of the arguments; it is compared with that of the program.
    value: object = None
    lines: list = field(default_factory=list)

    def __post_init__(self):
        types = [argument.mlir() for argument in self.arguments]
        text = self.body.format(*types, r=self.result.mlir())
        self.lines = [line.strip() for line in text.strip().splitlines()]

    def wrt(self):
        return [index for index, argument in enumerate(self.arguments) if argument.wrt]


def integers(type, values, element="i64", shape=()):
    return Argument(type, shape, wrt=False, values=values, element=element)


def unary(op, low=-1.0, high=1.0, text=None, name=None, second_order=True, value=None):
    """Static and dynamic cases of an operation with one operand; `value` is its function by NumPy."""
    text = text or f"%y = ad.{op} %a0 : {{0}}"
    name = name or op
    return [
        Case(f"ad.{op}", f"{name}_static", [Argument("2x3", low=low, high=high)], text, Argument("2x3"), second_order,
             value=value),
        Case(f"ad.{op}", f"{name}_dynamic", [Argument("?x3", (2, 3), low, high)], text, Argument("?x3", (2, 3)),
             second_order),
    ]


def binary(op, left=(-1.0, 1.0), right=(-1.0, 1.0), second_order=True):
    """Equal shapes, broadcasts of both sides, and sizes that are 1 only at run time."""
    def case(name, lhs, rhs, result):
        same = lhs.type == rhs.type
        types = "{0}" if same else "{0}, {1}"
        return Case(f"ad.{op}", f"{op}_{name}", [lhs, rhs], f"%y = ad.{op} %a0, %a1 : {types}", result, second_order)

    def lhs(type, shape=()):
        return Argument(type, shape, *left)

    def rhs(type, shape=()):
        return Argument(type, shape, *right)

    return [
        case("static", lhs("2x3"), rhs("2x3"), Argument("2x3")),
        case("row", lhs("2x3"), rhs("3"), Argument("2x3")),
        case("scalar", lhs(""), rhs("2x3"), Argument("2x3")),
        case("both", lhs("2x1"), rhs("1x3"), Argument("2x3")),
        case("dynamic_one", lhs("?x3", (1, 3)), rhs("?x3", (2, 3)), Argument("?x3", (2, 3))),
        case("dynamic_equal", lhs("?", (4,)), rhs("?", (4,)), Argument("?", (4,))),
    ]
