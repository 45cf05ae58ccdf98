# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Training steps on a GPU: ours, and the forms that users of PyTorch and JAX write. Inputs of the encoder and of the
digits are files, those of the block are random numbers of their own on each side."""

import importlib
import statistics
import time

import numpy as np

import gpu_ours

ONE_BY_ONE = "--no-replay"
RATE = 0.01
ROUNDS = 5
# Of each program: the module and its forms, as methods of its Trainer.
ENCODER = {"torch": ("torch_encoder", {"torch-eager": "time_eager", "torch-compile": "time_compiled",
                                       "torch-compile-graphs": "time_graphs"}),
           "jax": ("jax_encoder", {"jax-jit": "time_jit", "jax-fori-loop": "time_loop"})}
PERCEPTRON = {"torch": ("torch_digits", {"torch-eager": "time_eager", "torch-compile": "time_compiled",
                                         "torch-compile-graphs": "time_graphs"}),
              "jax": ("jax_digits", {"jax-jit": "time_jit", "jax-scan": "time_loop"})}
BLOCK = {"torch": ("torch_llama", {"torch-eager": False, "torch-compile": True}),
         "jax": ("jax_llama", {"jax-jit": True})}


def forms(case):
    return {"encoder": ENCODER, "digits": PERCEPTRON, "block": BLOCK}[case.rstrip("0123456789")]


def cases(plan):
    """Each program with its name and its steps."""
    for layers in plan["layers"]:
        yield f"encoder{layers}", f"training step of the encoder, {layers} layers", plan["training_steps"]
    if plan["block"]:  # too much for an emulated GPU
        yield "block", f"gradients of the Llama block, {plan['block'][0]}x{plan['block'][1]}", 1
    yield "digits", "training step of the digits", plan["digit_steps"]


#===- Ours -----------------------------------------------------------------===#


def save(folder, values):
    """Options that name the values as files."""
    for name, value in values.items():
        np.save(folder / f"{name}.npy", value)
        is_stream = value.ndim > 1 and name.endswith(("images", "labels"))
        yield f"--feed={name}={folder / name}.npy,cycle" if is_stream else f"--arg={name}={folder / name}.npy"


def arguments(folder, inputs, case, plan):
    """Options of a program; files go to the folder `inputs`."""
    if case == "digits":
        return list(save(inputs, dict(np.load(folder / "digits.npz"))))
    if case == "block":
        import llama

        scales = {name: f"normal:{seed}:{shape[-1] ** -0.5}" if len(shape) > 1 else f"uniform:{seed}"
                  for seed, (name, shape) in enumerate(llama.shapes().items())}
        cos, sin = llama.rotary(plan["block"][1])
        return [*(f"--arg={name}={source}" for name, source in {**scales, "x": "normal:100",
                                                                "target": "normal:101"}.items()),
                *save(inputs, {"cos": cos, "sin": sin})]
    import encoder

    parameters, x, goal = encoder.make_inputs(int(case.removeprefix("encoder")))
    return list(save(inputs, {**parameters, "x": x, "target": goal}))


def our_contenders(folder, inputs, case, steps, plan):
    inputs.mkdir(exist_ok=True)
    repeat = min(5, plan["max_repeat"])
    given = arguments(folder, inputs, case, plan)
    return {"ours": gpu_ours.Program(folder, case, given, steps, repeat),
            "ours-one-by-one": gpu_ours.Program(folder, case, [*given, ONE_BY_ONE], steps, repeat)}


#===- Peers ----------------------------------------------------------------===#


def measure_peer(folder, plan, question):
    case, device = question["training"], question["device"]
    steps = dict((name, count) for name, _, count in cases(plan))[case]
    module, methods = forms(case)[question["peer"]]
    peer = importlib.import_module(module)
    if case == "block":
        return measure_block(peer, question["peer"], methods[question["form"]], plan["block"], device)
    on_device = {"device": device} if module.startswith("torch_") else {}
    if case == "digits":
        values = dict(np.load(folder / "digits.npz"))
        images, labels = (values.pop(name)[:steps] for name in ("images", "labels"))
        parameters = {name: value for name, value in values.items() if not name.startswith("test_")}
        trainer = peer.Trainer(parameters, images, labels, **on_device)
    else:
        import encoder

        layers = int(case.removeprefix("encoder"))
        trainer = peer.Trainer(*encoder.make_inputs(layers), layers, RATE, steps, **on_device)
    run = getattr(trainer, methods[question["form"]])
    run()
    return {"seconds": statistics.median(run()[0] for _ in range(3)) / steps, "clock": "host",
            "launches": "as the peer chooses"}


def measure_block(peer, name, compiled, sizes, device):
    import llama

    parameters, x, target = llama.make_inputs(*sizes)
    if name == "torch":
        step = peer.step(parameters, x, target, compiled, device)
        wait = peer.torch.cuda.synchronize if device == "cuda" else lambda: None
    else:
        step, wait = peer.step(parameters, x, target), lambda: None  # waits itself
    times = []
    for _ in range(2 + ROUNDS):
        wait()
        start = time.perf_counter()
        step()
        wait()
        times.append(time.perf_counter() - start)
    return {"seconds": statistics.median(times[2:]), "clock": "host", "launches": "as the peer chooses"}
