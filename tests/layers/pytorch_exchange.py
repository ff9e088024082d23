"""PyTorch's side of pytorch_test.cpp: python3 pytorch_exchange.py FOLDER

Reads FOLDER/gradus.safetensors (a model's weights, its AdamW's state, tokens) into PyTorch, computes the
logits, takes one step, and writes FOLDER/torch.safetensors: logits, and weights and state after the step.
"""

import json
import struct
import sys

import torch

DTYPES = {"F32": torch.float32, "F64": torch.float64, "I64": torch.int64, "BOOL": torch.bool}


def load(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = bytearray(file.read())
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        numbers = torch.frombuffer(data[begin:end], dtype=DTYPES[entry["dtype"]])
        tensors[name] = numbers.reshape(entry["shape"]).clone()
    return tensors


def save(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        dtype = next(key for key, value in DTYPES.items() if value == tensor.dtype)
        numbers = bytes(tensor.detach().contiguous().view(-1).view(torch.uint8).tolist())
        offsets = [len(data), len(data) + len(numbers)]
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": offsets}
        data += numbers
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


class Attention(torch.nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("q_linear", "k_linear", "v_linear", "out_linear"):
            setattr(self, name, torch.nn.Linear(d_model, d_model))

    def forward(self, x):
        split = lambda y: y.view(*y.shape[:-1], self.n_heads, -1).transpose(-3, -2)
        q, k, v = split(self.q_linear(x)), split(self.k_linear(x)), split(self.v_linear(x))
        weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(-1)
        return self.out_linear((weights @ v).transpose(-3, -2).flatten(-2))


class Block(torch.nn.Module):
    def __init__(self, d_model, n_heads, d_hidden):
        super().__init__()
        self.self_attn = Attention(d_model, n_heads)
        self.linear1 = torch.nn.Linear(d_model, d_hidden)
        self.linear2 = torch.nn.Linear(d_hidden, d_model)
        self.norm1 = torch.nn.LayerNorm(d_model)
        self.norm2 = torch.nn.LayerNorm(d_model)

    def forward(self, x):
        x = x + self.self_attn(self.norm1(x))
        return x + self.linear2(torch.nn.functional.gelu(self.linear1(self.norm2(x))))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.symbols = torch.nn.Embedding(11, 16)
        self.block = Block(16, 2, 32)
        self.logits = torch.nn.Linear(16, 11)

    def forward(self, tokens):
        return self.logits(self.block(self.symbols(tokens)))


def under(prefix, tensors):
    return {name[len(prefix):]: value for name, value in tensors.items() if name.startswith(prefix)}


def main(folder):
    given = load(folder + "/gradus.safetensors")
    net = Net()
    net.load_state_dict(under("model.", given), strict=True)
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01, eps=1e-3, weight_decay=0.1)
    memory = under("optimizer.", given)
    for i, parameter in enumerate(net.parameters()):
        state = under(f"{i}.", memory)
        state["step"] = state["step"].float()  # PyTorch counts in float32
        optimizer.state[parameter] = state

    logits = net(given["tokens"])
    torch.nn.functional.cross_entropy(logits.view(-1, 11), given["tokens"].view(-1)).backward()
    optimizer.step()

    result = {"logits": logits, "new_logits": net(given["tokens"])}
    result.update({"model." + name: value for name, value in net.state_dict().items()})
    for i, parameter in enumerate(net.parameters()):
        for name, value in optimizer.state[parameter].items():
            result[f"optimizer.{i}.{name}"] = value
    save(folder + "/torch.safetensors", result)


main(sys.argv[1])
