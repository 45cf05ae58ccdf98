# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Tools that read annotations at run time find the types of all functions and methods."""

import functools
import importlib
import inspect
import pkgutil
import typing

import pytest

import adjoint


def modules():
    yield adjoint
    for found in pkgutil.walk_packages(adjoint.__path__, "adjoint."):
        if found.name != "adjoint._adjoint" and not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def functions():
    """All functions, and methods and properties of classes, with their names."""
    for module in modules():
        for name, value in vars(module).items():
            if (
                getattr(value, "__module__", "").split(".")[0] != "adjoint"
                or getattr(value, "__module__", "") == "adjoint._adjoint"
            ):
                continue
            if inspect.isclass(value):
                yield f"{module.__name__}.{name}", value
                for part, member in vars(value).items():
                    member = member.fget if isinstance(member, property) else getattr(member, "func", member)
                    member = getattr(member, "__func__", member)
                    if inspect.isfunction(member) and member.__module__.startswith("adjoint"):
                        yield f"{module.__name__}.{name}.{part}", member
            elif callable(value) and not isinstance(value, functools.partial):
                yield f"{module.__name__}.{name}", value


FUNCTIONS = dict(functions())


def test_all_are_found():
    names = [
        "adjoint.jit",
        "adjoint.compile",
        "adjoint.Tensor.astype",
        "adjoint.numpy.where",
        "adjoint.nn.Linear.forward",
        "adjoint.optim.Adam.update_one",
        "adjoint.random.uniform",
        "adjoint.ops.dot",
        "adjoint.diff.trace",
        "adjoint.Tensor.shape",
        "adjoint.Tensor.__add__",
    ]
    assert set(names) <= set(FUNCTIONS) and len(FUNCTIONS) > 800


def test_hints_have_values():
    wrong = {}
    for name, function in FUNCTIONS.items():
        try:
            typing.get_type_hints(function)
        except (NameError, TypeError, AttributeError) as error:
            wrong[name] = str(error)
    assert not wrong


@pytest.mark.parametrize(
    "function, name, expected",
    [
        (adjoint.numpy.where, "return", adjoint.Tensor),
        (adjoint.numpy.reshape, "return", adjoint.Tensor),
        (adjoint.Tensor.__add__, "return", adjoint.Tensor),
        (adjoint.random.normal, "key", adjoint.Tensor),
        (adjoint.load, "return", adjoint.Program),
        (adjoint.diff.trace, "program", adjoint.Program),
        (adjoint.compile, "source_type", type[adjoint._errors.Source]),
    ],
)
def test_hints_are_the_classes(function, name, expected):
    assert typing.get_type_hints(function)[name] == expected


def test_options_are_one_table():
    """`compile` and `jit` take the options of one table, and show them."""
    from adjoint import _options

    of_compile, of_jit = (inspect.signature(one).parameters for one in (adjoint.compile, adjoint.jit))
    table = typing.get_type_hints(_options.CompileOptions)
    assert set(of_compile) - set(table) == {"source", "name", "source_type"}
    assert set(of_jit) & set(table) == set(typing.get_type_hints(_options.JitOptions))
    for name, hint in table.items():
        assert eval(of_compile[name].annotation, vars(_options)) == hint  # noqa: S307
        assert of_compile[name].kind is inspect.Parameter.KEYWORD_ONLY
    assert of_compile["target"].default == of_jit["target"].default == "cpu" and of_compile["entry"].default == "main"
    assert set(table) == {name for name in dir(_options._adjoint.Options) if name[0] != "_"}
    with pytest.raises(adjoint.OptionTypeError, match="compile has no option 'targets'; it has target, "):
        adjoint.compile("func.func @main() {}", targets="cpu")
    with pytest.raises(adjoint.OptionTypeError, match="expected optimize as bool, got int"):
        adjoint.compile("func.func @main() {}", optimize=1)
    with pytest.raises(adjoint.OptionTypeError, match="expected numerics as str or None, got int"):
        adjoint.jit(lambda x: x, numerics=1)(1.0)
