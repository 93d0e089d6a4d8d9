"""Fourier transforms and what is filtered with them."""

import jax
import jax.numpy as jnp
import jax.scipy.fft
import jax.scipy.ndimage
import jax.scipy.signal as signal
import numpy as np

from .program import between, numbers, program

X = numbers(120)
GRID = numbers(10, 12)


def advected(u):
    """A wave moved by its spectrum."""
    k = jnp.fft.fftfreq(u.size, 1 / u.size)
    return jnp.fft.ifft(jnp.fft.fft(u) * jnp.exp(-0.3j * k)).real


def poisson_equation(f):
    kx, ky = jnp.meshgrid(*map(lambda n: jnp.fft.fftfreq(n, 1 / n), f.shape), indexing="ij")
    square = kx**2 + ky**2
    return jnp.fft.ifft2(jnp.where(square == 0, 0, jnp.fft.fft2(f) / jnp.maximum(square, 1))).real


def low_pass(x):
    spectrum = jnp.fft.rfft(x)
    return jnp.fft.irfft(spectrum * (jnp.arange(spectrum.size) < 20), x.size)


WORKLOADS = {
    "fft": program(lambda x: jnp.fft.fft(x + 1j * jnp.flip(x)), X),
    "inverse fft": program(lambda x: jnp.fft.ifft(x * jnp.exp(1j * x)), X),
    "real fft": program(lambda x: jnp.fft.irfft(jnp.fft.rfft(x) * 1j, 120), X),
    "fft of a grid": program(lambda x: jnp.abs(jnp.fft.fft2(x)), GRID),
    "real fft of a block": program(lambda x: jnp.fft.rfftn(x, axes=(0, 2)), numbers(5, 4, 6)),
    "hermitian": program(lambda x: jnp.fft.hfft(x.astype(jnp.complex64), 30), X[:16]),
    "of a prime length": program(jnp.fft.fft, X[:101]),
    "shifted": program(lambda x: jnp.fft.fftshift(jnp.fft.fft(x, axis=0), axes=0), GRID),
    "cosine transform": program(lambda x: jax.scipy.fft.dct(x, norm="ortho"), GRID),
    "convolved": program(lambda x, w: signal.fftconvolve(x, w, "same"), X, numbers(9)),
    "convolved in two": program(lambda x, w: signal.convolve2d(x, w, "same"), GRID, numbers(3, 3)),
    "correlated": program(lambda x, w: signal.correlate(x, w, "valid"), GRID, numbers(3, 4)),
    "short-time spectra": program(lambda x: signal.stft(x, nperseg=32)[2], X),
    "and back": program(
        lambda x: signal.istft(signal.stft(x, nperseg=32)[2], nperseg=32, input_onesided=True)[1], X
    ),
    "welch": program(lambda x: signal.welch(x, nperseg=40)[1], X),
    "detrended": program(lambda x: signal.detrend(x), X),
    "advected": program(advected, X),
    "poisson's equation": program(poisson_equation, GRID),
    "low pass": program(low_pass, X),
    "resampled": program(
        lambda x, at: jax.scipy.ndimage.map_coordinates(x, at, order=1, mode="nearest"),
        GRID,
        between(0, 9, 2, 15),
    ),
    "recursive filter": program(
        lambda x, a: jax.lax.scan(
            lambda s, x: (
                (y := x - a @ s) * jnp.eye(3)[0] + jnp.roll(s, 1) * jnp.array([0.0, 1, 1]),
                y,
            ),
            jnp.zeros(3),
            x,
        )[1],
        X,
        np.array([0.5, -0.2, 0.1], np.float32),
    ),
}
