#!/usr/bin/env python3
"""Many connections at once: mixed EXPLAIN, repeated and new questions. Prints rates and latencies; fails on any error,
a ledger that does not add up, or memory that grows.

usage: load.py [--seconds 300] [--connections 200]
"""
import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import Served  # noqa: E402

SCRIPTS = {
    "explain": "explain select ward, count(*) from people where age > 40 group by ward;\n",
    "repeat": "select ward, count(*) from people where age > 40 group by ward order by 1;\n",
    "new": "\\set a random(0, 1000000)\n\\set b random(20, 79)\nselect count(*) from people where age > :b and person_id <> :a;\n",
}


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def connect_seconds(server):
    """One login, which costs the client 32,768 rounds of hashing: pgbench's time runs while it logs in."""
    import psycopg
    started = time.time()
    for _ in range(3):
        psycopg.connect(server.dsn()).close()
    return (time.time() - started) / 3


def use_parquet(server):
    """The same people as Parquet: reading CSV, the engine guesses formats anew with every question."""
    folder = server.folder
    (folder / "copy.toml").write_text('[tables.people]\nsource = "people.csv"\npublic = true\n[budgets.default]\nepsilon = 1.0\ndelta = 0.0\n'
                                      '[ledger]\nstore = "copy.sqlite"\n')
    done = server.run("query", "--policy", folder / "copy.toml", "--format", "parquet", "--out", folder / "people.parquet", "select * from people")
    assert done.returncode == 0, done.stderr
    server.policy.write_text(server.policy.read_text().replace('"people.csv"', '"people.parquet"'))


def bench(server, scripts, connections, seconds):
    """Runs pgbench; latencies in milliseconds by script, and what it said."""
    seconds += round(connections * connect_seconds(server))
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["pgbench", "-n", "-c", str(connections), "-j", "2", "-T", str(seconds), "-l", "--log-prefix", f"{folder}/log"]
        names = list(scripts)
        for name in names:
            path = pathlib.Path(folder) / f"{name}.sql"
            path.write_text(SCRIPTS[name])
            arguments += ["-f", f"{path}@{scripts[name]}"]
        before = cpu_seconds(server.process.pid)
        done = subprocess.run(arguments, env=dict(server.environment(), PGOPTIONS="-c client_min_messages=warning"),
                              capture_output=True, text=True, timeout=seconds + 300)
        spent = cpu_seconds(server.process.pid) - before
        latencies, times = {name: [] for name in names}, []
        for log in pathlib.Path(folder).glob("log*"):
            for line in log.read_text().splitlines():
                fields = line.split()
                latencies[names[int(fields[3])]].append(int(fields[2]) / 1000)
                times.append(int(fields[4]) + int(fields[5]) / 1e6)
        return latencies, done, spent, max(times) - min(times) if len(times) > 1 else seconds


def http_bench(server, kind, connections, seconds, batch=20):
    """The same statement over HTTP, `batch` requests in a row on each connection: Python would be the slower end otherwise."""
    sql = SCRIPTS["repeat"].rstrip(";\n")
    body = json.dumps({"sql": sql})
    request = (f"POST /v1/{'explain' if kind == 'explain' else 'query'} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.token('alice')}\r\n"
               f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode() * batch
    latencies, problems = [], []
    host, port = server.http.rsplit(":", 1)
    end = time.time() + seconds

    def run():
        with socket.create_connection((host, int(port))) as connection:
            while time.time() < end:
                sent = time.time()
                connection.sendall(request)
                seen, tail = 0, b""
                while seen < batch:
                    part = connection.recv(1 << 18)
                    if not part:
                        problems.append("the server closed the connection")
                        return
                    tail += part
                    seen += tail.count(b"HTTP/1.1 200")
                    if b"HTTP/1.1 4" in tail or b"HTTP/1.1 5" in tail:
                        problems.append(tail[-300:].decode(errors="replace"))
                        return
                    tail = tail[-11:] if not tail.endswith(b"HTTP/1.1 200") else b""
                latencies.extend([1000 * (time.time() - sent) / batch] * batch)
    before = cpu_seconds(server.process.pid)
    started = time.time()
    threads = [threading.Thread(target=run) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {kind: latencies}, problems, cpu_seconds(server.process.pid) - before, time.time() - started


def report(title, latencies, spent, took):
    total = sum(map(len, latencies.values()))
    print(f"{title}: {total} statements in {took:.1f} s, {total / took:.0f} a second; server CPU {spent:.1f} s, "
          f"{1000 * spent / max(total, 1):.3f} ms each: {2 * total / max(spent, 0.01):.0f} a second on two cores")
    for name, values in latencies.items():
        if len(values) > 1:
            cuts = statistics.quantiles(values, n=100)
            print(f"  {name:8} {len(values):7}  p50 {cuts[49]:8.1f} ms  p99 {cuts[98]:8.1f} ms")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--single", type=int, default=5, help="seconds for each kind by itself")
    asked = parser.parse_args()
    server = Served(epsilon='"unlimited"', analyst_budget="unlimited,unlimited",
                    arguments=["--log", "/dev/null"])
    use_parquet(server)
    server.start()
    problems = []
    try:
        # The answer that will be repeated.
        assert server.psql("-c", SCRIPTS["repeat"]).returncode == 0
        for kind in ("explain", "repeat"):
            if asked.single:
                latencies, done, spent, took = bench(server, {kind: 1}, 32, asked.single)
                report(f"{kind} alone, 32 connections", latencies, spent, took)
                if done.returncode:
                    problems.append(done.stderr[-500:])
                latencies, failed, spent, took = http_bench(server, kind, 8, asked.single)
                report(f"{kind} over HTTP, 8 connections", latencies, spent, took)
                problems += failed[:1]
        memory = []
        stop = threading.Event()

        def sample():
            while not stop.wait(1):
                memory.append(resident_mib(server.process.pid))
        sampler = threading.Thread(target=sample)
        sampler.start()
        latencies, done, spent, took = bench(server, {"explain": 12, "repeat": 7, "new": 1}, asked.connections, asked.seconds)
        stop.set()
        sampler.join()
        report(f"mixed, {asked.connections} connections", latencies, spent, took)
        if done.returncode or "aborted" in done.stderr or "ERROR" in done.stderr:
            problems.append(done.stderr[-500:])
        if len(memory) >= 20:
            third = len(memory) // 3
            middle, end = statistics.median(memory[third:2 * third]), statistics.median(memory[2 * third:])
            print(f"memory: {memory[0]:.0f} MiB at the start, {middle:.0f} in the middle, {end:.0f} at the end")
            if end > middle * 1.15 + 20:
                problems.append(f"memory grew from {middle:.0f} to {end:.0f} MiB")
    finally:
        server.stop()
    print("ledger:", server.verify().strip())
    for problem in problems:
        print("problem:", problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
