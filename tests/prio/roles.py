#!/usr/bin/env python3
"""The four roles as people run them: over TLS, with noise, budgets, tokens, and the Python client beside ours.

    tests/prio/roles.py build/bin/discreet
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

BINARY = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = tempfile.mkdtemp(prefix="discreet-prio-roles-")
servers = []


def prio(*words, **more):
    return subprocess.run([BINARY, "prio", *map(str, words)], text=True, capture_output=True, **more)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(role, folder, *more):
    server = subprocess.Popen([BINARY, "prio", role, "--task", f"{folder}/task.json", "--secrets", f"{folder}/{role}.json",
                               "--state", f"{folder}/{role}", *more], stdout=subprocess.PIPE, text=True)
    servers.append(server)
    line = server.stdout.readline()
    assert line.startswith("ready "), line
    return line.strip()


def task(name, scheme, *circuit):
    folder = f"{FOLDER}/{name}"
    done = prio("task", *circuit, "--out", folder, "--precision", 86400 * 30, "--leader",
                f"{scheme}://localhost:{free_port()}", "--helper", f"{scheme}://localhost:{free_port()}")
    assert done.returncode == 0, done.stderr
    return folder


def over_tls():
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                           "-keyout", f"{FOLDER}/key.pem", "-out", f"{FOLDER}/cert.pem", "-days", "1", "-subj", "/CN=localhost",
                           "-addext", "subjectAltName=DNS:localhost"], capture_output=True)
    assert made.returncode == 0, made.stderr
    folder = task("tls", "https", "--circuit", "histogram", "--length", 4, "--epsilon", 1, "--min-batch", 50)
    tls = ["--certificate", f"{FOLDER}/cert.pem", "--key", f"{FOLDER}/key.pem"]
    assert start("helper", folder, *tls).startswith("ready https=")
    start("leader", folder, *tls, "--ca", f"{FOLDER}/cert.pem")
    client = ["client", "--task", f"{folder}/task.json", "--json"]
    collect = ["collect", "--task", f"{folder}/task.json", "--secrets", f"{folder}/collector.json", "--json"]
    assert prio(*client, input="1\n").returncode == 1, "a certificate nobody signed was believed"
    ca = ["--ca", f"{FOLDER}/cert.pem"]
    sent = prio(*client, *ca, input="0\n1\n1\n3\n" * 10)
    assert json.loads(sent.stdout) == {"sent": 40, "refused": {}}, sent
    early = prio(*collect, *ca)
    assert early.returncode == 1 and "fewer reports" in early.stderr, early
    assert prio(*client, *ca, input="2\n" * 200).returncode == 0
    first, again = prio(*collect, *ca), prio(*collect, *ca)
    assert first.returncode == 0 and first.stdout == again.stdout, (first, again)
    answer = json.loads(first.stdout)
    assert answer["report_count"] == 240 and len(answer["totals"]) == 4, answer
    # Two discrete Laplace noises of scale 2 an entry: beyond 60 with chance below 1e-11.
    assert all(abs(a - b) < 60 for a, b in zip(answer["totals"], [10, 20, 200, 10])), answer
    late = prio(*client, *ca, input="1\n")
    assert late.returncode == 1 and "batch collected" in late.stdout, late


def wrong_parties():
    folder = task("plain", "http", "--circuit", "count", "--noise", "none", "--min-batch", 1)
    other = task("other", "http", "--circuit", "count", "--noise", "none", "--min-batch", 1)
    start("helper", folder)
    start("leader", folder)
    assert prio("client", "--task", f"{folder}/task.json", input="1\n0\n1\n").returncode == 0
    public = json.load(open(f"{folder}/task.json"))
    for address, path in ((public["leader_url"], "collection_jobs"), (public["helper_url"], "aggregate_shares"),
                          (public["helper_url"], "aggregation_jobs/AAAAAAAAAAAAAAAAAAAAAA")):
        request = urllib.request.Request(f"{address}/tasks/{public['task_id']}/{path}", data=b"",
                                         headers={"Authorization": "Bearer guess"})
        try:
            urllib.request.urlopen(request)
            raise AssertionError(f"{path} served a stranger")
        except urllib.error.HTTPError as error:
            assert error.code == 403, error
            assert json.load(error)["type"].startswith("urn:ietf:params:ppm:dap:error:")
    stranger = prio("collect", "--task", f"{folder}/task.json", "--secrets", f"{other}/collector.json")
    assert stranger.returncode == 1, stranger
    for secret in ("leader", "helper", "collector"):
        assert os.stat(f"{folder}/{secret}.json").st_mode & 0o077 == 0, "secrets are for their owner"
    assert prio("client", "--task", f"{folder}/task.json", input="2\n").returncode == 2, "2 is not a count"
    try:
        import cryptography  # noqa: F401
    except ImportError:
        print("python3 lacks the package cryptography: the Python client was not tried")
    else:
        done = subprocess.run([sys.executable, f"{HERE}/../../examples/prio/client.py", f"{folder}/task.json"], input="1\n1\n0\n",
                              text=True, capture_output=True)
        assert done.returncode == 0, done
        answer = json.loads(prio("collect", "--task", f"{folder}/task.json", "--secrets", f"{folder}/collector.json",
                                 "--json").stdout)
        assert answer["totals"] == [4] and answer["report_count"] == 6, answer


def refusals():
    for words in (["--circuit", "nothing", "--epsilon", 1], ["--circuit", "count"], ["--circuit", "sum", "--max", 0, "--epsilon", 1],
                  ["--circuit", "count", "--noise", "gaussian", "--epsilon", 1, "--delta", 1e-6, "--split", "divided"]):
        assert prio("task", *words, "--out", f"{FOLDER}/bad").returncode == 2, words
    assert prio("leader", "--task", f"{FOLDER}/none.json", "--secrets", "x", "--state", f"{FOLDER}/s").returncode == 1
    folder = task("address", "http", "--circuit", "count", "--epsilon", 1)
    outside = prio("helper", "--task", f"{folder}/task.json", "--secrets", f"{folder}/helper.json", "--state", f"{folder}/helper",
                   "--host", "0.0.0.0")
    assert outside.returncode == 1 and "TLS" in outside.stderr, outside


try:
    over_tls()
    wrong_parties()
    refusals()
    print("roles: as documented")
finally:
    for server in servers:
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=90) == 0
    shutil.rmtree(FOLDER)
