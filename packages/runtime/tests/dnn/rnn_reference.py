"""Recurrent networks and their gradients in float64."""

import numpy as np

KINDS = ["lstm", "gru", "gru_linear_before_reset", "tanh", "relu"]
DIRECTIONS = ["forward", "backward", "both_concat", "both_sum"]
GATES = {"lstm": 4, "gru": 3, "gru_linear_before_reset": 3, "tanh": 1, "relu": 1}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def cell_step(kind, x, h, c, w, u, b):
    """One time step; w and u are I G O, b is G O. h, c and what the gradient needs."""
    forward = np.einsum("ni,igo->gno", x, w) + b[: w.shape[1], None]
    hidden = np.einsum("ni,igo->gno", h, u)
    if kind == "lstm":
        i, f, fresh, o = forward + hidden
        i, f, fresh, o = sigmoid(i), sigmoid(f), np.tanh(fresh), sigmoid(o)
        after = f * c + i * fresh
        return o * np.tanh(after), after, (i, f, fresh, o)
    if kind in ("tanh", "relu"):
        v = (forward + hidden)[0]
        v = np.tanh(v) if kind == "tanh" else np.maximum(v, 0)
        return v, c, (v,)
    update, reset = sigmoid(forward[0] + hidden[0]), sigmoid(forward[1] + hidden[1])
    if kind == "gru":
        part = None
        inner = np.tanh(forward[2] + np.einsum("ni,io->no", reset * h, u[:, 2]))
    else:
        part = hidden[2] + b[3]
        inner = np.tanh(forward[2] + reset * part)
    return update * h + (1 - update) * inner, c, (update, reset, inner, part)


def cell_backward(kind, dh, dc, h, c, after, residuals, u):
    """Return the gradients of a step.

    They are those of its forward and hidden parts (G N O), and of h and c before it. The last result is what
    the hidden weights of the last gate multiplied.
    """
    if kind == "lstm":
        i, f, fresh, o = residuals
        bent = np.tanh(after)
        dc = dc + dh * o * (1 - bent**2)
        parts = np.stack(
            [
                dc * fresh * i * (1 - i),
                dc * c * f * (1 - f),
                dc * i * (1 - fresh**2),
                dh * bent * o * (1 - o),
            ]
        )
        return parts, parts, np.einsum("gno,igo->ni", parts, u), dc * f, h
    if kind in ("tanh", "relu"):
        v = residuals[0]
        parts = (dh * (1 - v**2 if kind == "tanh" else v > 0))[None]
        return parts, parts, np.einsum("gno,igo->ni", parts, u), dc, h
    update, reset, inner, part = residuals
    of_inner = dh * (1 - update) * (1 - inner**2)
    of_update = dh * (h - inner) * update * (1 - update)
    before = dh * update
    if kind == "gru":
        product = of_inner @ u[:, 2].T
        of_reset = product * h * reset * (1 - reset)
        parts = np.stack([of_update, of_reset, of_inner])
        before = before + product * reset + np.einsum("gno,igo->ni", parts[:2], u[:, :2])
        return parts, parts, before, dc, reset * h
    of_reset = of_inner * part * reset * (1 - reset)
    parts = np.stack([of_update, of_reset, of_inner])
    hidden = np.stack([of_update, of_reset, of_inner * reset])
    return parts, hidden, before + np.einsum("gno,igo->ni", hidden, u), dc, h


def sweep(kind, reverse, x, w, u, b, h, c):
    """One layer and direction: the results, and each step's tape in the order of steps."""
    out, tape = np.zeros((*x.shape[:2], w.shape[-1])), []
    for t in reversed(range(len(x))) if reverse else range(len(x)):
        before = h, c
        h, c, residuals = cell_step(kind, x[t], h, c, w, u, b)
        tape.append((t, *before, c, residuals))
        out[t] = h
    return out, h, c, tape


def run(kind, direction, x, w, u, b, h0, c0):
    """The result, the last states, and the tapes with the sources of each layer."""
    layers, directions = w.shape[:2]
    state, cell, tapes = h0.copy(), c0.copy(), []
    for layer in range(layers):
        results, of_layer = [], []
        for d in range(directions):
            reverse = d == 1 or direction == "backward"
            at = layer, d
            out, state[at], cell[at], tape = sweep(
                kind, reverse, x, w[at], u[at], b[at], h0[at], c0[at]
            )
            results.append(out)
            of_layer.append(tape)
        tapes.append((x, of_layer))
        x = np.concatenate(results, -1) if direction == "both_concat" else sum(results)
    return x, state, cell, tapes


def reference(kind, direction, x, w, u, b, h0, c0):
    """The result and the last states."""
    return run(kind, direction, x, w, u, b, h0, c0)[:3]


def gradients(kind, direction, x, w, u, b, h0, c0, grad, grad_state, grad_cell):
    """By x, w, u, b, h0 and c0."""
    tapes = run(kind, direction, x, w, u, b, h0, c0)[3]
    dw, du, db, dh0, dc0 = (np.zeros_like(v) for v in (w, u, b, h0, c0))
    layers, directions, channels = *w.shape[:2], w.shape[-1]
    for layer in reversed(range(layers)):
        src, of_layer = tapes[layer]
        grad_input = np.zeros_like(src)
        for d in range(directions):
            at = layer, d
            first = d * channels if direction == "both_concat" else 0
            dh, dc = grad_state[at], grad_cell[at]
            for t, h, c, after, residuals in reversed(of_layer[d]):
                dh = dh + grad[t][:, first : first + channels]
                parts, hidden, dh, dc, last = cell_backward(
                    kind, dh, dc, h, c, after, residuals, u[at]
                )
                grad_input[t] += np.einsum("gno,igo->ni", parts, w[at])
                dw[at] += np.einsum("ni,gno->igo", src[t], parts)
                du[at][:, :2] += np.einsum("ni,gno->igo", h, hidden[:2])
                du[at][:, 2:3] += np.einsum("ni,gno->igo", last, hidden[2:3])
                du[at][:, 3:] += np.einsum("ni,gno->igo", h, hidden[3:])
                db[at][: len(parts)] += parts.sum(1)
                if kind == "gru_linear_before_reset":
                    db[at][3] += hidden[2].sum(0)
            dh0[at], dc0[at] = dh, dc
        grad = grad_input
    return grad_input, dw, du, db, dh0, dc0
