# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""examples/generate: with a cache a model gives the scores and the characters that it gives when all characters are
read again for each, with the same bits; what is drawn follows from the seed; a wrong argument is an error of a
sentence."""

import importlib
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import adjoint

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
MODULES = ("character_llama", "generate", "train", "ending", "book")

pytestmark = pytest.mark.skipif(not EXAMPLES.exists(), reason="the package is tested without the tree")


@pytest.fixture(scope="module")
def example():
    """The modules by their names, with a tiny model in the place of theirs."""
    with pytest.MonkeyPatch.context() as patch:
        for folder in ("generate", "support"):
            patch.syspath_prepend(str(EXAMPLES / folder))
        modules = {name: importlib.import_module(name) for name in MODULES}
        for name in ("generate", "train"):
            patch.setattr(modules[name], "Llama", lambda: modules["character_llama"].Llama(16, 2, 2, key=3))
        yield modules
        for name in MODULES:
            sys.modules.pop(name)


def bits(x):
    x = np.asarray(x)
    return x.view({2: np.int16, 4: np.int32}[x.itemsize])


def model_of(example, element):
    return example["train"].Llama().astype(element)


def draw_prompt(example, random, length):
    return random.integers(0, len(example["character_llama"].CHARACTERS), length).astype(np.int32)


@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_scores_have_the_bits_of_all_characters_read_at_once(example, element):
    capacity, random, model = 21, np.random.default_rng(1), model_of(example, element)
    text = draw_prompt(example, random, capacity)[None]
    expected = bits(adjoint.jit(lambda model, ids: model(ids), numerics="reproducible")(model, text))
    extend = adjoint.jit(
        lambda model, ids, cache, position: model.extend(ids, cache, position), numerics="reproducible",
        donate_argnames="cache", specs=(None, adjoint.spec("1 length", "i32"), None, None))
    for prompt in (1, 5, 20, 21):
        cache, ends = model.make_cache(capacity), [prompt, *range(prompt + 1, capacity + 1)]
        for begin, end in zip([0, *ends], ends):
            scores, cache = extend(model, text[:, begin:end], cache, np.int32(begin))
            assert (bits(scores) == expected[:, begin:end]).all(), f"characters {begin} to {end} after {prompt}"


def check_text(example, model, prompt, capacity, temperature, target="cpu"):
    """Fills the cache. What follows each part of the text is compared with what follows when all of it is read again,
    in a text that is as long as the cache: what comes later is hidden."""
    generate = example["generate"]

    @adjoint.jit(target=target, numerics="reproducible")
    def reread(model, ids, count, temperature, seed):
        return generate.choose(model(ids)[:, count - 1][:, None], count, temperature, seed)

    text, count = np.zeros((1, capacity), np.int32), len(prompt)
    text[0, :count] = prompt
    for character in generate.Reader(target).generate(model, prompt, capacity, temperature, seed=5):
        expected = reread(model, text, np.int32(count), np.float32(temperature), np.int64(5))
        assert character == int(expected[0, 0]), f"character {count} of a capacity of {capacity}"
        if count < capacity:  # the last one is not read
            text[0, count] = character
        count += 1
    assert count == capacity + 1


@pytest.mark.parametrize("element, length, capacity, temperature",
                         [("f32", 4, 24, 0), ("f32", 250, 290, 0.9), ("bf16", 3, 17, 1.5)])
def test_texts_are_those_without_a_cache(example, element, length, capacity, temperature):
    prompt = draw_prompt(example, np.random.default_rng(length), length)
    check_text(example, model_of(example, element), prompt, capacity, temperature)


@pytest.mark.parametrize("target", ["reference", "gpu-sim"])
def test_texts_on_targets(example, target):
    check_text(example, model_of(example, "f32"), draw_prompt(example, np.random.default_rng(2), 2), 4, 0.7, target)


def test_what_is_drawn_follows_from_the_seed(example):
    model, reader = model_of(example, "f32"), example["generate"].Reader()
    prompt = example["character_llama"].encode("And ")
    texts = [list(reader.generate(model, prompt, 24, *options)) for options in
             [(0, 1), (0, 2), (1, 1), (1, 1), (1, 2)]]
    likeliest, also_likeliest, drawn, again, other = texts
    assert likeliest == also_likeliest and drawn == again
    assert drawn != other and drawn != likeliest and len(drawn) == 21


def run(example, monkeypatch, name, *arguments):
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *map(str, arguments)])
    example[name].main()


@pytest.mark.skipif(not shutil.which("bible"), reason="the book is not installed")
def test_training_and_text(example, monkeypatch, tmp_path, capsys):
    model = tmp_path / "new/model.safetensors"
    run(example, monkeypatch, "train", "--steps", 2, "--model", model)
    assert capsys.readouterr().out.startswith("loss 4.")
    options = ["--model", model, "--prompt", "In the ", "--length", 5, "--capacity", 24]
    texts = []
    for more in ([], [], ["--temperature", 2, "--seed", 3]):
        run(example, monkeypatch, "generate", *options, *more)
        output, errors = capsys.readouterr()
        texts.append(output)
        assert output.startswith("In the ") and output.endswith("\n") and len(output) == 7 + 5 + 1
        assert errors.endswith(" characters per second\n")
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize("arguments, message", [
    (["--prompt", ""], "the prompt is empty"),
    (["--prompt", "Ave €, ñ"], "the model does not know 'ñ', '€'; it knows "),
    (["--prompt", "a" * 12, "--capacity", "11"], "the prompt has 12 characters, the cache has room for 11"),
    (["--prompt", "a" * 12, "--capacity", "14", "--length", "4"], "expected a length from 1 to 3, "),
    (["--length", "0"], "expected a length from 1 to "),
    (["--capacity", "0"], "expected a capacity from 1 to 65536, got 0"),
    (["--temperature", "-1"], "expected a temperature of 0 or more, got -1.0"),
    (["--temperature", "nan"], "expected a temperature of 0 or more, got nan"),
    (["--seed", str(2**63)], "expected a seed of 64 bits, got 9223372036854775808"),
])
def test_arguments_that_are_wrong(example, monkeypatch, capsys, arguments, message):
    with pytest.raises(SystemExit) as ended:
        run(example, monkeypatch, "generate", *arguments)
    output, errors = capsys.readouterr()
    assert ended.value.code == 2 and output == "" and f"generate.py: error: {message}" in errors


@pytest.mark.parametrize("name, content, message", [
    ("generate", None, "there is no MODEL, which examples/generate/train.py writes"),
    ("generate", b"0123456789", "'MODEL' is no file of safetensors, or it is damaged: "),
    ("train", b"", "cannot read or write 'FOLDER': "),
])
def test_files_that_are_wrong(tmp_path, name, content, message):
    """A model that is missing, one that is damaged, and a file in the place of the folder."""
    (tmp_path / "folder").write_bytes(b"")
    model = tmp_path / ("folder/model" if name == "train" else "model")
    if content:
        model.write_bytes(content)
    done = subprocess.run([sys.executable, EXAMPLES / f"generate/{name}.py", "--model", model], capture_output=True,
                          text=True)
    message = message.replace("MODEL", str(model)).replace("FOLDER", str(model.parent))
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"{name}.py: error: {message}")
