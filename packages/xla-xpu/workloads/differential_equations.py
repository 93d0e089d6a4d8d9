"""diffrax: ordinary, stochastic, stiff and controlled equations, and gradients through their solvers."""

import diffrax as dfx
import jax
import jax.numpy as jnp
import numpy as np
import optimistix as optx

from .program import TRAINS, numbers, program

START = np.array([1.0, 0.5], np.float32)
RATES = np.array([1.2, 0.8, 0.6, 0.4], np.float32)
WEIGHTS = numbers(2, 2, 8) * np.float32(0.4)
TIMES = np.linspace(0, 2, 9, dtype=np.float32)
SEED = np.int32(2)


def predators(t, y, rates):
    a, b, c, d = rates
    return jnp.stack([a * y[0] - b * y[0] * y[1], c * y[0] * y[1] - d * y[1]])


def solved(solver, start, rates, field=predators, **options):
    options = {
        "saveat": dfx.SaveAt(ts=TIMES),
        "stepsize_controller": dfx.PIDController(rtol=1e-4, atol=1e-6),
        "max_steps": 64,
        **options,
    }
    end = options.pop("end", 2.0)
    term = field if isinstance(field, dfx.AbstractTerm) else dfx.ODETerm(field)
    return dfx.diffeqsolve(term, solver, 0.0, end, 0.05, start, rates, **options)


def by(solver, wavers=False, **options):
    return program(
        lambda start, rates: solved(solver, start, rates, **options).ys,
        START,
        RATES,
        marks="values",
        wavers=wavers,
    )


def stiff(t, y, rates):
    return jnp.stack([-50 * (y[0] - jnp.cos(t)) * rates[0], y[0] - rates[1] * y[1]])


def neural(start, weights):
    def field(t, y, weights):
        return jnp.tanh(weights[1] @ jnp.tanh(weights[0].T @ y))

    return ((solved(dfx.Tsit5(), start, weights, field).ys - TIMES[:, None]) ** 2).mean()


def adjoint(start, rates):
    """Its gradient an equation of its own, solved backwards."""
    return solved(
        dfx.Tsit5(), start, rates, saveat=dfx.SaveAt(t1=True), adjoint=dfx.BacksolveAdjoint()
    ).ys


def stochastic(solver):
    def function(seed, start, rates):
        noise = dfx.VirtualBrownianTree(0.0, 2.0, 1e-2, (), jax.random.key(seed))
        terms = dfx.MultiTerm(
            dfx.ODETerm(predators), dfx.ControlTerm(lambda t, y, r: 0.2 * y * r[0], noise)
        )
        return solved(
            solver, start, rates, terms, stepsize_controller=dfx.ConstantStepSize(), max_steps=64
        ).ys

    return program(function, SEED, START, RATES, marks="values")


def ensemble(seed, start):
    def path(key):
        noise = dfx.UnsafeBrownianPath((), key)
        terms = dfx.MultiTerm(
            dfx.ODETerm(lambda t, y, _: -y), dfx.ControlTerm(lambda t, y, _: 0.3 * y, noise)
        )
        return dfx.diffeqsolve(
            terms, dfx.Euler(), 0.0, 1.0, 0.125, start, adjoint=dfx.DirectAdjoint(), max_steps=16
        ).ys

    return jax.vmap(path)(jax.random.split(jax.random.key(seed), 5))


def controlled(path, start, weights):
    control = dfx.CubicInterpolation(TIMES, dfx.backward_hermite_coefficients(TIMES, path))
    term = dfx.ControlTerm(lambda t, y, w: jnp.tanh(w[0] * y[:, None])[:, :3], control)
    return solved(dfx.Heun(), start, weights, term, stepsize_controller=dfx.ConstantStepSize()).ys


def falling(start, rates):
    """Until the ball reaches the ground."""
    event = dfx.Event(
        lambda t, y, args, **_: y[0],
        optx.Newton(1e-5, 1e-5),
    )
    solution = solved(
        dfx.Tsit5(),
        start * 5,
        rates,
        lambda t, y, r: jnp.stack([y[1], -9.8 * r[0]]),
        event=event,
        saveat=dfx.SaveAt(t1=True),
        end=9.0,
    )
    return solution.ts, solution.ys


def dense(start, rates):
    return jax.vmap(solved(dfx.Dopri5(), start, rates, saveat=dfx.SaveAt(dense=True)).evaluate)(
        TIMES[1:-1]
    )


def fitted(start, rates, seen):
    """The rates found from what was seen, by least squares."""

    def residuals(rates, _):
        return solved(dfx.Tsit5(), start, rates, adjoint=dfx.DirectAdjoint()).ys - seen

    solver = optx.LevenbergMarquardt(rtol=1e-3, atol=1e-3)
    return optx.least_squares(residuals, solver, rates, max_steps=4, throw=False).value


WORKLOADS = {
    "tsit5": by(dfx.Tsit5(), wavers=True),
    "dopri5": by(dfx.Dopri5()),
    "dopri8": by(dfx.Dopri8(), wavers=True),
    "bosh3": by(dfx.Bosh3()),
    "heun of even steps": by(dfx.Heun(), stepsize_controller=dfx.ConstantStepSize()),
    "only the end": by(dfx.Tsit5(), wavers=True, saveat=dfx.SaveAt(t1=True)),
    "each step": by(dfx.Tsit5(), wavers=True, saveat=dfx.SaveAt(steps=True)),
    "kvaerno3": by(dfx.Kvaerno3(), field=stiff, end=0.5, saveat=dfx.SaveAt(t1=True)),
    "implicit euler": by(
        dfx.ImplicitEuler(root_finder=dfx.VeryChord(rtol=1e-4, atol=1e-4)),
        stepsize_controller=dfx.ConstantStepSize(),
        end=0.5,
        saveat=dfx.SaveAt(t1=True),
    ),
    "in both directions": by(dfx.Tsit5(), wavers=True, adjoint=dfx.DirectAdjoint()),
    "adjoint": program(adjoint, START, RATES, marks="values"),
    "neural": program(neural, START, WEIGHTS, marks="values"),
    "dense": program(dense, START, RATES, marks="values"),
    "falling": program(falling, np.array([1.0, 0.2], np.float32), RATES, marks="values"),
    "euler-maruyama": stochastic(dfx.Euler()),
    "milstein": stochastic(dfx.ItoMilstein()),
    "heun of stratonovich": stochastic(dfx.EulerHeun()),
    "ensemble": program(ensemble, SEED, START, no_gradient="its noise is not kept"),
    "controlled": program(controlled, numbers(9, 3), START, WEIGHTS, marks="values"),
    "each with its own start": program(
        jax.vmap(lambda start, rates: solved(dfx.Tsit5(), start, rates).ys, (0, None)),
        np.abs(numbers(3, 2)) + 0.1,
        RATES,
        marks="values",
        wavers=True,
    ),
    "fitted": program(
        fitted, START, RATES, np.abs(numbers(9, 2)), no_gradient=TRAINS, marks="values"
    ),
}
