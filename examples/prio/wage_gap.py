#!/usr/bin/env python3
"""The Boston wage gap: mean wages by group over twenty companies, none of which shows anyone its payroll.

    python3 examples/prio/wage_gap.py build/bin/discreet [--seed 1] [--folder wage_gap]

Two tasks run between two servers on this machine: a histogram of employees by group, and the sum of wages by group. Every
employee is a client: their company's computer splits their wage and group between the servers, with a proof that the wage lies
between 0 and 250 (thousand dollars a year) and belongs to one group. Nineteen companies use `discreet prio client`, the
twentieth the Python client beside this file. Wages are invented; so the table can show how far off the private answer is.
"""
import argparse
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys

GROUPS = ["Asian women", "Black women", "Latinas", "white women", "Asian men", "Black men", "Latinos", "white men"]
SHARE = [0.06, 0.07, 0.08, 0.27, 0.06, 0.06, 0.09, 0.31]
TYPICAL = [88, 62, 58, 80, 101, 70, 66, 104]  # thousand dollars a year
WAGE_MAX = 250  # higher ones are reported as this
EPSILON = {"employees": 0.35, "wages": 0.65}


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def payrolls(seed):
    chance = random.Random(seed)
    companies = []
    for _ in range(20):
        staff = []
        for _ in range(chance.randint(60, 420)):
            group = chance.choices(range(8), SHARE)[0]
            staff.append((group, min(WAGE_MAX, max(20, round(chance.lognormvariate(0, 0.35) * TYPICAL[group])))))
        companies.append(staff)
    companies[19] = companies[19][:40]  # the Python client is slow
    return companies


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", default="wage_gap")
    arguments = parser.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))
    prio = lambda *words, **more: subprocess.run([arguments.binary, "prio", *map(str, words)], text=True, check=True,
                                                 capture_output=True, **more)
    shutil.rmtree(arguments.folder, ignore_errors=True)
    ports, servers = free_ports(4), []
    tasks = {"employees": ["--circuit", "histogram", "--length", 8],
             "wages": ["--circuit", "l1-bound-sum", "--length", 8, "--max", WAGE_MAX]}
    try:
        for i, (name, circuit) in enumerate(tasks.items()):
            folder = f"{arguments.folder}/{name}"
            made = prio("task", *circuit, "--epsilon", EPSILON[name], "--min-batch", 1000, "--precision", 86400 * 7, "--out", folder,
                        "--leader", f"http://127.0.0.1:{ports[2 * i]}", "--helper", f"http://127.0.0.1:{ports[2 * i + 1]}")
            print(f"{name}: {made.stderr.splitlines()[0]}")
            for role in ("helper", "leader"):
                server = subprocess.Popen([arguments.binary, "prio", role, "--task", f"{folder}/task.json", "--secrets",
                                           f"{folder}/{role}.json", "--state", f"{folder}/{role}"], stdout=subprocess.PIPE,
                                          text=True)
                servers.append(server)
                print(f"{name}: {role} {server.stdout.readline().strip()}")
        companies = payrolls(arguments.seed)
        for number, staff in enumerate(companies, 1):
            lines = {"employees": [str(group) for group, _ in staff],
                     "wages": [",".join(str(wage if g == group else 0) for g in range(8)) for group, wage in staff]}
            for name in tasks:
                task, text = f"{arguments.folder}/{name}/task.json", "\n".join(lines[name]) + "\n"
                if number < 20:
                    answer = prio("client", "--task", task, input=text).stdout
                else:
                    answer = subprocess.run([sys.executable, f"{here}/client.py", task], input=text, text=True, check=True,
                                            capture_output=True).stdout
                if number in (1, 20):
                    print(f"company {number}, {name}: {answer.strip()}" + (" (Python client)" if number == 20 else ""))
        results = {}
        for name in tasks:
            folder = f"{arguments.folder}/{name}"
            results[name] = json.loads(prio("collect", "--task", f"{folder}/task.json", "--secrets", f"{folder}/collector.json",
                                            "--json").stdout)
    finally:
        for server in servers:
            server.send_signal(signal.SIGTERM)
            server.wait()
    everyone = [person for staff in companies for person in staff]
    print(f"\n{results['wages']['report_count']} employees of {len(companies)} companies, epsilon {sum(EPSILON.values())} in all")
    print(f"{'':14}{'employees':>10}{'mean wage':>11}{'a white man = 100':>19}{'exact mean':>12}")
    means = [w / max(1, n) for w, n in zip(results["wages"]["totals"], results["employees"]["totals"])]
    for g, group in enumerate(GROUPS):
        exact = [wage for mine, wage in everyone if mine == g]
        print(f"{group:14}{results['employees']['totals'][g]:10}{1000 * means[g]:11,.0f}{100 * means[g] / means[7]:19.0f}"
              f"{1000 * sum(exact) / len(exact):12,.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
