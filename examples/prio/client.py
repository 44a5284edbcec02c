#!/usr/bin/env python3
"""A small client for `discreet prio` in Python: splits measurements, proves them valid, seals and uploads them.

    python3 examples/prio/client.py survey/task.json < measurements.txt

One measurement a line, numbers separated by commas. It follows draft-irtf-cfrg-vdaf-20 and docs/formats/prio.md
and shares no code with the C++ program: it is a second opinion on the formats as much as an example. Clear rather than
fast (tens of milliseconds a report), and not in constant time. Needs the package `cryptography` for X25519 and AES-GCM.
"""
import hashlib
import hmac
import json
import os
import struct
import sys
import time
import urllib.request

# Fields: modulus, bytes of an element, element of order 2^bits.
FIELD64 = (2**64 - 2**32 + 1, 8, 32, pow(7, 2**32 - 1, 2**64 - 2**32 + 1))
P128 = 2**128 - 28 * 2**64 + 1
FIELD128 = (P128, 16, 66, pow(7, 4611686018427387897, P128))

# --- TurboSHAKE128 and the XOF -----------------------------------------------------------------------------

ROTATIONS = [0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14]
CONSTANTS = [0x000000008000808B, 0x800000000000008B, 0x8000000000008089, 0x8000000000008003, 0x8000000000008002,
             0x8000000000000080, 0x000000000000800A, 0x800000008000000A, 0x8000000080008081, 0x8000000000008080,
             0x0000000080000001, 0x8000000080008008]
MASK = 2**64 - 1


def permute(a):
    for constant in CONSTANTS:
        parity = [a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20] for x in range(5)]
        column = [parity[x - 1] ^ ((parity[(x + 1) % 5] << 1 | parity[(x + 1) % 5] >> 63) & MASK) for x in range(5)]
        b = [0] * 25
        for i in range(25):
            word, r = a[i] ^ column[i % 5], ROTATIONS[i]
            b[i // 5 + 5 * ((2 * (i % 5) + 3 * (i // 5)) % 5)] = (word << r | word >> (64 - r)) & MASK
        a = [b[i] ^ (~b[i // 5 * 5 + (i + 1) % 5] & MASK & b[i // 5 * 5 + (i + 2) % 5]) for i in range(25)]
        a[0] ^= constant
    return a


class Xof:
    def __init__(self, seed, domain, binder):
        message = struct.pack("<H", len(domain)) + domain + bytes([len(seed)]) + seed + binder + b"\x01"
        message = bytearray(message + bytes(-len(message) % 168))
        message[-1] ^= 0x80
        self.state, self.ready = [0] * 25, b""
        for at in range(0, len(message), 168):
            for i, word in enumerate(struct.unpack_from("<21Q", message, at)):
                self.state[i] ^= word
            self.state = permute(self.state)
        self.ready = struct.pack("<21Q", *self.state[:21])

    def next(self, size):
        while len(self.ready) < size:
            self.state = permute(self.state)
            self.ready += struct.pack("<21Q", *self.state[:21])
        out, self.ready = self.ready[:size], self.ready[size:]
        return out

    def elements(self, field, count):
        out = []
        while len(out) < count:
            value = int.from_bytes(self.next(field[1]), "little")
            if value < field[0]:
                out.append(value)
        return out


# --- Circuits and their proof ------------------------------------------------------------------------------


def power_of_two(n):
    return 1 << (n - 1).bit_length()


class Circuit:
    IDS = {"count": 1, "sum": 2, "sum-vec": 3, "histogram": 4, "multihot-count-vec": 5, "l1-bound-sum": 7}

    def __init__(self, kind, length, maximum, chunk):
        self.kind, self.length, self.maximum, self.chunk = kind, length, maximum, chunk
        self.algorithm = self.IDS[kind]
        self.field = FIELD64 if kind in ("count", "sum") else FIELD128
        self.bits = maximum.bit_length()
        digits = {"count": 1, "sum": self.bits, "sum-vec": length * self.bits, "histogram": length,
                  "multihot-count-vec": length + self.bits, "l1-bound-sum": (length + 1) * self.bits}[kind]
        self.chunked = kind not in ("count", "sum")
        self.calls = -(-digits // chunk) if self.chunked else digits
        self.arity = 2 * chunk if self.chunked else 2 if kind == "count" else 1
        self.joint = self.calls if self.chunked else 0
        self.points = power_of_two(self.calls + 1)
        self.proof = self.arity + 2 * (self.points - 1) + 1

    def number(self, value):
        """Digits of weights 1, 2, 4, ... and a last one, which together reach exactly the maximum."""
        if not 0 <= value <= self.maximum:
            raise ValueError(f"{value} is not from 0 to {self.maximum}")
        threshold = 2 ** (self.bits - 1) - 1
        high = value > threshold
        low = value - (self.maximum - threshold) * high
        return [low >> i & 1 for i in range(self.bits - 1)] + [int(high)]

    def encode(self, numbers):
        if self.kind == "histogram":
            return [int(i == numbers[0]) for i in range(self.length)]
        if self.kind == "count":
            return [numbers[0]]
        if self.kind == "multihot-count-vec":
            return list(numbers) + self.number(sum(numbers))
        digits = [digit for value in numbers for digit in self.number(value)]
        return digits + self.number(sum(numbers)) if self.kind == "l1-bound-sum" else digits

    def prove(self, digits, seeds, joint):
        p, _, root_bits, generator = self.field
        n = 2 * self.points
        w = pow(generator, 2**root_bits // n, p)
        wires = []
        for j in range(self.arity):
            values = [seeds[j]]
            for k in range(self.calls):
                if not self.chunked:
                    values.append(digits[k])
                    continue
                index = k * self.chunk + j // 2
                x = digits[index] if index < len(digits) else 0
                values.append((pow(joint[k], j // 2 + 1, p) * x if j % 2 == 0 else x - 1) % p)
            values += [0] * (self.points - len(values))
            # Coefficients from the values at w^2k, then values at every w^i.
            inverse = pow(self.points, -1, p)
            coefficients = [inverse * sum(v * pow(w, -2 * i * k, p) for k, v in enumerate(values)) % p
                            for i in range(self.points)]
            wires.append([sum(c * pow(w, i * k, p) for k, c in enumerate(coefficients)) % p for i in range(n)])
        if self.arity == 1:
            gadget = [(x * x - x) % p for x in wires[0]]
        else:
            gadget = [sum(wires[j][i] * wires[j + 1][i] for j in range(0, self.arity, 2)) % p for i in range(n)]
        return seeds + gadget[:n - 1]


def shard(circuit, context, numbers, nonce):
    """The public share and the two input shares."""
    p, size, _, _ = circuit.field
    domain = lambda usage: bytes([18, 0]) + struct.pack(">IH", circuit.algorithm, usage) + context
    pack = lambda elements: b"".join(e.to_bytes(size, "little") for e in elements)
    helper_seed, helper_blind, leader_blind, prove_seed = (os.urandom(32) for _ in range(4))
    digits = circuit.encode(numbers)
    helper = Xof(helper_seed, domain(1), b"\x01").elements(circuit.field, len(digits))
    leader = [(d - h) % p for d, h in zip(digits, helper)]
    public, joint = b"", []
    if circuit.joint:
        part = lambda blind, server, share: Xof(blind, domain(7), bytes([server]) + nonce + pack(share)).next(32)
        public = part(leader_blind, 0, leader) + part(helper_blind, 1, helper)
        joint_seed = Xof(bytes(32), domain(6), public).next(32)
        joint = Xof(joint_seed, domain(3), b"\x01").elements(circuit.field, circuit.joint)
    else:
        leader_blind = helper_blind = b""
    seeds = Xof(prove_seed, domain(4), b"\x01").elements(circuit.field, circuit.arity)
    proof = circuit.prove(digits, seeds, joint)
    helper_proof = Xof(helper_seed, domain(2), b"\x01\x01").elements(circuit.field, circuit.proof)
    leader_proof = [(a - b) % p for a, b in zip(proof, helper_proof)]
    return public, pack(leader) + pack(leader_proof) + leader_blind, helper_seed + helper_blind


# --- HPKE and upload ---------------------------------------------------------------------------------------


def seal(public_key, info, aad, message):
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    mac = lambda key, text: hmac.new(key, text, hashlib.sha256).digest()
    kem, suite = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x01"
    extract = lambda salt, suite_id, label, material: mac(salt, b"HPKE-v1" + suite_id + label + material)
    expand = lambda key, suite_id, label, text, size: mac(
        key, struct.pack(">H", size) + b"HPKE-v1" + suite_id + label + text + b"\x01")[:size]
    one_time = X25519PrivateKey.generate()
    encapsulated = one_time.public_key().public_bytes_raw() if hasattr(one_time.public_key(), "public_bytes_raw") else \
        one_time.public_key().public_bytes(*_raw())
    point = one_time.exchange(X25519PublicKey.from_public_bytes(public_key))
    shared = expand(extract(b"", kem, b"eae_prk", point), kem, b"shared_secret", encapsulated + public_key, 32)
    context = b"\x00" + extract(b"", suite, b"psk_id_hash", b"") + extract(b"", suite, b"info_hash", info)
    secret = extract(shared, suite, b"secret", b"")
    key, nonce = expand(secret, suite, b"key", context, 16), expand(secret, suite, b"base_nonce", context, 12)
    return encapsulated, AESGCM(key).encrypt(nonce, message, aad)


def _raw():
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
    return Encoding.Raw, PublicFormat.Raw


def unbase64url(text):
    import base64
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def make_report(task_text, numbers, now):
    task = json.loads(task_text)
    c = task["circuit"]
    circuit = Circuit(c["kind"], c["length"], c["max"], c["chunk_length"])
    task_id, report_id = unbase64url(task["task_id"]), os.urandom(16)
    public, leader, helper = shard(circuit, b"dap-18" + task_id, numbers, report_id)
    opaque4 = lambda b: struct.pack(">I", len(b)) + b
    metadata = report_id + struct.pack(">QH", now - now % task["time_precision"], 0)
    aad = task_id + opaque4(task_text.encode()) + metadata + opaque4(public)
    report = metadata + opaque4(public)
    for role, key, share in ((2, task["leader_key"], leader), (3, task["helper_key"], helper)):
        plain = struct.pack(">H", 0) + opaque4(share)
        encapsulated, sealed = seal(unbase64url(key["public_key"]), b"dap-18 input share" + bytes([1, role]), aad, plain)
        report += struct.pack(">BH", key["id"], len(encapsulated)) + encapsulated + opaque4(sealed)
    return report


def main():
    task_text = open(sys.argv[1]).read()
    task = json.loads(task_text)
    reports = [make_report(task_text, [int(n) for n in line.split(",")], int(time.time()))
               for line in sys.stdin if line.strip()]
    request = urllib.request.Request(f"{task['leader_url']}/tasks/{task['task_id']}/reports", data=b"".join(reports),
                                     headers={"Content-Type": "application/ppm-dap;message=upload-req"})
    refused = urllib.request.urlopen(request).read()
    print(f"{len(reports)} reports sent, {len(reports) - len(refused) // 17} taken")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
