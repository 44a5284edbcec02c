#!/usr/bin/env python3
"""Kills leader and helper (SIGKILL) at random moments while clients report, and checks that the total is exact.

    tests/prio/kill_servers.py build/bin/discreet [--reports 3000] [--kills 15] [--seed 1]

The task has no noise, so that the exact total can be seen. Every report must be counted once: fewer is a lost
report that was acknowledged, more is one counted twice.
"""
import argparse
import json
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    def __init__(self, command):
        self.command, self.lock, self.process = command, threading.Lock(), None
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("ready "):
            raise SystemExit(f"did not start: {' '.join(self.command)}")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--reports", type=int, default=3000)
    parser.add_argument("--kills", type=int, default=15)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    folder = tempfile.mkdtemp(prefix="discreet-prio-kill-")
    ports = [free_port(), free_port()]
    run = lambda *words, **more: subprocess.run([arguments.binary, "prio", *map(str, words)], text=True, **more)
    run("task", "--circuit", "sum", "--max", 1000, "--noise", "none", "--min-batch", 1, "--precision", 86400 * 30,
        "--leader", f"http://127.0.0.1:{ports[0]}", "--helper", f"http://127.0.0.1:{ports[1]}", "--out", folder,
        check=True, capture_output=True)
    start = time.time()
    when = int(start)  # all reports in one bucket
    server = lambda role, *more: [arguments.binary, "prio", role, "--task", f"{folder}/task.json", "--secrets",
                                  f"{folder}/{role}.json", "--state", f"{folder}/{role}", *more]
    servers = [Server(server("helper")), Server(server("leader", "--job-size", "100"))]

    values = [chance.randrange(1001) for _ in range(arguments.reports)]
    failures = []

    def report(lines):
        done = run("client", "--task", f"{folder}/task.json", "--time", when, "--at-once", 50, "--tries", 2000,
                   input="".join(f"{v}\n" for v in lines), capture_output=True)
        # A report sent again after a lost answer is refused as replayed: that is how it stays counted once.
        if done.returncode not in (0, 1) or "refused" in done.stdout and "replayed" not in done.stdout:
            failures.append(done.stdout + done.stderr)

    halves = [values[::2], values[1::2]]
    clients = [threading.Thread(target=report, args=(half,)) for half in halves]
    for client in clients:
        client.start()
    kills = 0
    while kills < arguments.kills or any(client.is_alive() for client in clients):
        time.sleep(chance.uniform(0.02, 0.5))
        if kills < arguments.kills:
            victim = chance.choice(servers)
            victim.kill()
            time.sleep(chance.uniform(0, 0.1))
            victim.start()
            kills += 1
    for client in clients:
        client.join()
    batch = json.load(open(f"{folder}/task.json"))["time_precision"]
    deadline = time.time() + 600
    while True:
        done = run("collect", "--task", f"{folder}/task.json", "--secrets", f"{folder}/collector.json", "--start",
                   when - when % batch, "--duration", batch, "--json", capture_output=True)
        if done.returncode == 0:
            break
        if time.time() > deadline:
            raise SystemExit(f"collection failed: {done.stderr}")
        time.sleep(0.2)
    for each in servers:
        each.process.terminate()
        each.process.wait()
    shutil.rmtree(folder)
    answer = json.loads(done.stdout)
    exact = answer["totals"] == [sum(values)] and answer["report_count"] == len(values) and not failures
    print(f"{len(values)} reports, {kills} kills: counted {answer['report_count']}, total {answer['totals'][0]}, "
          f"expected {sum(values)}, {time.time() - start:.0f} s: {'exact' if exact else 'WRONG'}")
    for failure in failures:
        print(failure, file=sys.stderr)
    return 0 if exact else 1


if __name__ == "__main__":
    sys.exit(main())
