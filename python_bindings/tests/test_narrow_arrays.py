# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Arrays of narrow floats with and without ml_dtypes: bf16 is rounded as ml_dtypes does, and 8-bit floats are refused
where nothing converts them."""

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

WITHOUT = """
import sys
sys.modules["ml_dtypes"] = None
import adjoint, numpy as np
from adjoint import nn
from adjoint._narrow import convert
"""


def run_without(code, *words):
    """What a program without ml_dtypes prints."""
    done = subprocess.run([sys.executable, "-c", WITHOUT + code, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("source", ["f64", "f32", "f16", "i32"])
def test_bf16_rounds_as_ml_dtypes(source, tmp_path):
    random = np.random.default_rng(1)
    bits = random.integers(0, 2**16, 4096).astype(np.uint16)
    exact = bits.view(ml_dtypes.bfloat16).astype(np.float64)
    with np.errstate(all="ignore"):
        values = {
            # Numbers, midpoints and their neighbours, the ends of the type, infinities and NaN.
            "f64": np.concatenate([exact, exact * (1 + 2.0**-9), exact * (1 + 2.0**-9) * (1 + 2.0**-40), random.normal(size=4096),
                                   [0.0, -0.0, np.inf, -np.inf, np.nan, 1e300, -1e300, 3.39e38, 3.4e38, 1e-45, 5e-324]]),
            "f32": np.concatenate([exact, random.normal(size=4096), [3.4e38]]).astype(np.float32),
            "f16": random.normal(size=4096).astype(np.float16),
            "i32": random.integers(-2**31, 2**31, 4096).astype(np.int32),
        }[source]
        expected = values.astype(np.float64).astype(ml_dtypes.bfloat16)
        # ml_dtypes rounds f64 by f32; where it rounds twice, the nearer neighbour is right.
        once = np.float64(values).astype(np.float32).astype(np.float64) == np.float64(values)
    np.save(tmp_path / "values.npy", values)
    run_without("""
given = np.load(sys.argv[1] + "/values.npy")
made = convert(given, "bf16")
np.save(sys.argv[1] + "/bits.npy", made.view(np.uint16))
np.save(sys.argv[1] + "/back.npy", convert(made, "f64"))
""", str(tmp_path))
    made = np.load(tmp_path / "bits.npy").view(ml_dtypes.bfloat16)
    is_nan = np.isnan(values.astype(np.float64))
    assert np.isnan(made[is_nan].astype(np.float64)).all()
    np.testing.assert_array_equal(made.view(np.uint16)[once], expected.view(np.uint16)[once])
    np.testing.assert_array_equal(np.load(tmp_path / "back.npy"), made.astype(np.float64))
    with np.errstate(all="ignore"):
        wide, chosen, other = values.astype(np.float64), made.astype(np.float64), expected.astype(np.float64)
        finite = np.isfinite(chosen) & np.isfinite(other)
        assert (abs(chosen - wide)[finite] <= abs(other - wide)[finite]).all()


def test_models_of_bf16_without_ml_dtypes():
    printed = run_without("""
layer = nn.Linear(2, 2, key=1)
x = np.ones((1, 2), np.float32)
narrow = layer.astype("bf16")
made = nn.Linear(2, 2, key=1, dtype="bf16")
assert (made.weight == narrow.weight).all()
back = narrow.astype("f32")
assert abs(back.weight - layer.weight).max() < 2.0**-8
loaded = narrow.load_state_dict({"weight": np.full((2, 2), 1.1, np.float32), "bias": np.zeros(2, np.float32)})
print(convert(loaded.weight, "f32").tolist())
print(abs(convert(narrow(convert(x, "bf16")), "f32") - layer(x)).max() < 0.02)
""")
    assert printed == "[[1.1015625, 1.1015625], [1.1015625, 1.1015625]]\nTrue\n"


@pytest.mark.parametrize("code", ['nn.Linear(2, 2, key=1).astype("f8E5M2")', 'nn.Linear(2, 2, key=1, dtype="f8E4M3FN")'])
def test_bytes_are_refused_without_ml_dtypes(code):
    printed = run_without(f"""
try:
    {code}
except adjoint.OptionError as error:
    print(error)
""")
    assert "pip install adjoint-mlir[small-floats]" in printed
