# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""ode.py in JAX, whose fori_loop has no gradient: it is a scan."""

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
RATES, START = np.array([1.1, 0.4, 0.4, 0.1]), np.array([10.0, 10.0])


def change(rates, state):
    born, eaten, die, grow = rates
    prey, predators = state
    return jnp.stack([(born - eaten * predators) * prey, (grow * prey - die) * predators])


def solve(rates, state, steps=1000, h=0.01):
    def step(state, _):
        k1 = change(rates, state)
        k2 = change(rates, state + h / 2 * k1)
        k3 = change(rates, state + h / 2 * k2)
        k4 = change(rates, state + h * k3)
        return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

    return jax.lax.scan(step, state, length=steps)[0]


def distance(rates, state):
    end = solve(rates, state)
    return ((end - START) ** 2).sum(), end


run = jax.jit(jax.value_and_grad(distance, has_aux=True))

if __name__ == "__main__":
    (value, end), gradient = run(RATES, START)
    print(f"end {end}, distance {value:.4f}, its gradient {gradient}")
