"""A network of PyTorch learns what is missing from a law of motion that JAX integrates.

    python residual_dynamics.py [--steps 60] [--device xpu]

A pendulum is simulated without its friction; the network proposes the missing torque along the way. PyTorch
differentiates through JAX's simulation, which is compiled once, forward and backward.
"""

import argparse

import jax
import jax.numpy as jnp
import torch
from torch import nn
from xpu_sdk.interop import torch_function

COUNT, TIMES, DT = 512, 40, 0.05


@torch_function
def simulate(angle, speed, torque):
    """Angles at all times; ``torque`` is what is applied besides gravity, at each."""

    def step(state, torque):
        angle, speed = state
        speed = speed + DT * (torque - jnp.sin(angle))
        angle = angle + DT * speed
        return (angle, speed), jnp.stack([angle, speed], -1)

    return jax.lax.scan(step, (angle, speed), torque)[1]


def real(angle, speed):
    """What a pendulum with friction does."""
    states = []
    for _ in range(TIMES):
        speed = speed + DT * (-torch.sin(angle) - 0.3 * speed)
        angle = angle + DT * speed
        states.append(torch.stack([angle, speed], -1))
    return torch.stack(states)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--device", default="xpu")
    options = parser.parse_args()
    torch.manual_seed(0)
    angle, speed = torch.randn(2, COUNT, device=options.device)
    measured = real(angle, speed)
    before = torch.cat([torch.stack([angle, speed], -1)[None], measured[:-1]])

    net = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 1)).to(options.device)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for step in range(options.steps):
        states = simulate(angle, speed, net(before).squeeze(-1))
        loss = nn.functional.mse_loss(states, measured)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.6f}")
    moving = torch.tensor([[0.0, 1.0]], device=options.device)
    print(f"torque at speed 1: {net(moving).item():.3f}")


if __name__ == "__main__":
    main()
