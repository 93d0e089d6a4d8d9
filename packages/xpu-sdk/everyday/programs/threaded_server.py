"""Serve a model of PyTorch and a function of JAX over HTTP, with a thread for each request."""

import json
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch_xpu
from torch import nn

CLIENTS, REQUESTS, WIDTH = 8, 240, 32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(WIDTH, 64, batch_first=True)
        self.head = nn.Sequential(nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 5))

    def forward(self, x):
        return self.head(self.rnn(x)[0][:, -1]).softmax(-1)


@jax.jit
def smooth(x):
    """Mix each row with its neighbors."""
    return jax.lax.fori_loop(
        0, 5, lambda _, x: (x + jnp.roll(x, 1, 0) + jnp.roll(x, -1, 0)) / 3, jnp.tanh(x)
    )


class Service:
    """What the server computes. One thread in four uses a stream of its own."""

    def __init__(self):
        torch.manual_seed(0)
        self.reference = Model().eval()
        self.model = Model().eval().to("xpu")
        self.model.load_state_dict(self.reference.state_dict())
        self.local = threading.local()
        self.served = 0
        self.lock = threading.Lock()

    def stream(self):
        if not hasattr(self.local, "stream"):
            self.local.stream = torch.xpu.Stream()
        return self.local.stream

    def classify(self, rows):
        x = torch.tensor([rows], dtype=torch.float32)
        if x.shape[-1] != WIDTH:
            raise ValueError(f"rows have {x.shape[-1]} numbers, expected {WIDTH}")
        with torch.inference_mode():
            if threading.get_native_id() % 4 == 0:
                with torch.xpu.stream(self.stream()):
                    return self.model(x.to("xpu"))[0].tolist()
            return self.model(x.to("xpu"))[0].tolist()

    def smooth(self, rows):
        return np.asarray(smooth(np.array(rows, np.float32))).tolist()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            function = getattr(self.server.service, self.path.strip("/"))
            status, answer = 200, {"result": function(json.loads(body))}
        except (ValueError, RuntimeError, TypeError) as error:
            status, answer = 400, {"error": str(error)}
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        with self.server.service.lock:
            self.server.service.served += 1

    def log_message(self, *_):
        pass


def ask(address, path, rows):
    request = urllib.request.Request(f"{address}/{path}", json.dumps(rows).encode())
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def numbers(seed, rows, width=WIDTH):
    return np.random.default_rng(seed).standard_normal((rows, width)).round(3)


def client(address, service, number):
    """Ask once, and compare the answer with the CPU's."""
    x = numbers(number, rows=3 + number % 4)
    if number % 10 == 9:
        status, answer = ask(address, "classify", x[:, :-1].tolist())
        assert status == 400
        assert "expected 32" in answer["error"]
        return
    path = "smooth" if number % 3 == 0 else "classify"
    status, answer = ask(address, path, x.tolist())
    assert status == 200, answer
    if path == "classify":
        with torch.inference_mode():
            expected = service.reference(torch.tensor(x[None], dtype=torch.float32))[0].numpy()
    else:
        expected = np.tanh(x)
        for _ in range(5):
            expected = (expected + np.roll(expected, 1, 0) + np.roll(expected, -1, 0)) / 3
    np.testing.assert_allclose(answer["result"], expected, atol=2e-5)


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.service = service = Service()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    try:
        with ThreadPoolExecutor(CLIENTS) as pool:
            for number in range(12):  # the first requests, all at once, compile
                pool.submit(client, address, service, number)
        torch.xpu.synchronize()
        before = torch.xpu.memory_allocated()
        with ThreadPoolExecutor(CLIENTS) as pool:
            for done in [pool.submit(client, address, service, n) for n in range(REQUESTS)]:
                done.result()
        # New weights arrive while the server works.
        with torch.no_grad():
            for network in (service.model, service.reference):
                for parameter in network.parameters():
                    parameter.mul_(0.5)
        client(address, service, 1)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    torch.xpu.synchronize()
    grown = torch.xpu.memory_allocated() - before
    print(f"{service.served} requests served, memory grew by {grown} bytes")
    assert service.served == REQUESTS + 13
    assert grown < 1 << 20
    assert torch_xpu.fallbacks() == {}


if __name__ == "__main__":
    main()
