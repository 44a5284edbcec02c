#!/usr/bin/env python3
"""Local reports made and decoded: Discreet beside pure-LDP and multi-freq-ldpy, at d = 1,024 values, epsilon 2.

CPU time per report, one run. The error of the estimates stands beside the time, so that a faster protocol with
larger noise cannot pass for a faster library. Then the audit: each library's RAPPOR client is asked to report two
values, and `discreet local audit` bounds its epsilon from below.

usage: local.py --build build        (bench/peers/run.sh makes the environment)
"""
import argparse
import json
import math
import os
import random
import subprocess
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")
D, EPSILON = 1024, 2.0


def zipf(n):
    weights = [1 / (i + 1) for i in range(D)]
    return random.Random(1).choices(range(D), weights, k=n)


def cpu(task):
    began = time.process_time()
    result = task()
    return time.process_time() - began, result


def rmse(estimates, values):
    truth = [0] * D
    for v in values:
        truth[v] += 1
    scale = math.sqrt(len(values))
    return math.sqrt(sum((e - t) ** 2 for e, t in zip(estimates, truth)) / D) / scale


def discreet(build):
    out = subprocess.run([f"{build}/bin/bench_local", "--benchmark_format=json", "--benchmark_min_time=0.2"],
                         capture_output=True, text=True, check=True).stdout
    rows = {b["name"]: b for b in json.loads(out)["benchmarks"]}
    unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}
    seconds = lambda b: b["cpu_time"] * unit[b["time_unit"]]
    client = {n.split("/")[1]: seconds(b) for n, b in rows.items() if n.startswith("Report/")}
    decode = {n.split("/")[1]: seconds(b) / float(n.split("/")[2]) for n, b in rows.items() if n.startswith("Decode/")}
    wall = {n.split("/")[1]: b["real_time"] * unit[b["time_unit"]] for n, b in rows.items() if n.startswith("Decode/")}
    return client, decode, wall


def discreet_error(build, oracle, n):
    out = subprocess.run([f"{build}/bin/discreet", "local", "simulate", "--oracle", oracle, "--epsilon", str(EPSILON),
                          "--values", str(D), "--people", str(n), "--json"], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)["rmse"] / math.sqrt(n)


def pure_ldp_rows():
    from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer
    from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
    for oracle, n in (("olh", 1500), ("oue", 1500), ("hr", 1500)):
        values = zipf(n)
        if oracle == "olh":
            client, server = LHClient(EPSILON, D, use_olh=True), LHServer(EPSILON, D, use_olh=True)
        elif oracle == "oue":
            client, server = UEClient(EPSILON, D, use_oue=True), UEServer(EPSILON, D, use_oue=True)
        else:
            server = HadamardResponseServer(EPSILON, D)
            client = HadamardResponseClient(EPSILON, D, server.get_hash_funcs())
        made, reports = cpu(lambda: [client.privatise(v + 1) for v in values])

        def decode():
            for report in reports:
                server.aggregate(report)
            return [server.estimate(v + 1, suppress_warnings=True) for v in range(D)]
        decoded, estimates = cpu(decode)
        yield oracle, "pure-LDP", made / n, decoded / n, rmse(estimates, values)


def multi_freq_rows():
    from multi_freq_ldpy.pure_frequency_oracles import LH, UE
    for oracle, n in (("olh", 1500), ("oue", 1500)):
        values = zipf(n)
        if oracle == "olh":
            client = lambda v: LH.LH_Client(v, D, EPSILON, optimal=True)
            server = lambda r: LH.LH_Aggregator_MI(r, D, EPSILON, optimal=True)
        else:
            client = lambda v: UE.UE_Client(v, D, EPSILON, optimal=True)
            server = lambda r: UE.UE_Aggregator_MI(r, EPSILON, optimal=True)
        client(0)  # its first call compiles
        made, reports = cpu(lambda: [client(v) for v in values])
        server(reports[:50])
        decoded, shares = cpu(lambda: server(reports))
        # Its estimates come clipped and normalised, so their error is not that of an unbiased count.
        yield oracle, "multi-freq-ldpy", made / n, decoded / n, rmse([s * n for s in shares], values)


def audit(build, name, claimed, outcomes):
    """Two lists of outcomes -> what `discreet local audit` says of them."""
    with tempfile.TemporaryDirectory() as folder:
        for which, lines in zip("ab", outcomes):
            with open(os.path.join(folder, which), "w") as f:
                f.write("\n".join(lines) + "\n")
        done = subprocess.run([f"{build}/bin/discreet", "local", "audit", f"{folder}/a", f"{folder}/b", "--epsilon",
                               str(claimed), "--json"], capture_output=True, text=True)
    said = json.loads(done.stdout)
    print(f"{name:44s} claimed {claimed:<6g} lower bound {said['lower_bound']:<8.3f} {said['verdict']}")
    return said


def audits(build):
    from pure_ldp.frequency_oracles.rappor import RAPPORClient, RAPPORServer
    from pure_ldp.frequency_oracles.unary_encoding import UEClient
    trials, m = 40_000, 8
    server = RAPPORServer(f=0.5, m=m, k=1, d=4, num_of_cohorts=1)
    client = RAPPORClient(f=0.5, m=m, hash_funcs=server.get_hash_funcs(), num_of_cohorts=1)
    text = lambda report: "".join(str(int(b)) for b in (report[0] if isinstance(report, tuple) else report))
    # One hash function: eps = 2 ln((1 - f/2) / (f/2)).
    claimed = 2 * math.log(0.75 / 0.25)
    pairs = [(1, v) for v in (2, 3, 4)]
    said = max((audit(build, f"pure-LDP RAPPOR client, values {a} and {b}", claimed,
                      [[text(client.privatise(v)) for _ in range(trials)] for v in (a, b)]) for a, b in pairs),
               key=lambda s: s["lower_bound"])
    ue = UEClient(1.0, 4, use_oue=True)
    fine = audit(build, "pure-LDP OUE client (1.2.0, mended)", 1.0,
                 [[text(ue.privatise(v)) for _ in range(trials)] for v in (1, 2)])
    return said, fine


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    build = parser.parse_args().build
    client, decode, wall = discreet(build)
    print(f"d = {D}, epsilon = {EPSILON}; microseconds of CPU a report; error in units of sqrt(n)")
    print(f"10^6 OLH reports over {D} values decoded by Discreet in {wall['olh']:.3f} s (wall), {decode['olh'] * 1e6:.3f} s CPU")
    print(f"{'oracle':8s}{'library':18s}{'client':>10s}{'ours':>10s}{'ratio':>8s}{'decode':>12s}{'ours':>10s}{'ratio':>10s}{'error':>8s}{'ours':>8s}")
    worst = math.inf
    for oracle, library, made, decoded, error in list(pure_ldp_rows()) + list(multi_freq_rows()):
        ours = discreet_error(build, oracle, 50_000)
        print(f"{oracle:8s}{library:18s}{made * 1e6:10.2f}{client[oracle] * 1e6:10.3f}{made / client[oracle]:8.0f}"
              f"{decoded * 1e6:12.2f}{decode[oracle] * 1e6:10.4f}{decoded / decode[oracle]:10.0f}{error:8.2f}{ours:8.2f}")
        if oracle == "olh":
            worst = min(worst, decoded / decode[oracle])
    print(f"OLH decoding: at least {worst:.0f} times as fast as either")
    said, fine = audits(build)
    assert said["verdict"] == "refuted", said
    assert fine["verdict"] == "pass", fine


if __name__ == "__main__":
    main()
