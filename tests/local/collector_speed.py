#!/usr/bin/env python3
"""How many reports a second `discreet local serve` takes on loopback, in batches, and what kill -9 leaves behind.

usage: collector_speed.py build/bin/discreet [REPORTS] [BATCH]
Every batch is acknowledged after it is on disk. At the end the server is killed with SIGKILL and started again: every
acknowledged report must be there. Prints one JSON object a form; exits 1 when a report was lost.
"""
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

program = sys.argv[1]
total = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
batch = int(sys.argv[3]) if len(sys.argv) > 3 else 20_000
CLIENTS = 2


def randomize(*options):
    values = "".join(f"{i % 1024}\n" for i in range(batch)).encode()
    return subprocess.run([program, "local", "randomize", "--oracle", "olh", "--epsilon", "1", "--values", "1024",
                           "--name", "speed", *options], input=values, capture_output=True, check=True).stdout


def serve(folder):
    process = subprocess.Popen([program, "local", "serve", "--http-port", "0", "--folder", folder, "--collection",
                                os.path.join(folder, "header.json")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    host, port = process.stdout.readline().strip().removeprefix("ready http=").split(":")
    return process, host, int(port)


def cpu_seconds(process):
    with open(f"/proc/{process.pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


failed = False
for form, body in (("binary", randomize("--binary")), ("ndjson", randomize())):
    with tempfile.TemporaryDirectory() as folder:
        header = randomize().split(b"\n", 1)[0]
        with open(os.path.join(folder, "header.json"), "wb") as f:
            f.write(header + b"\n")
        server, host, port = serve(folder)
        acknowledged = [0] * CLIENTS

        def send(which):
            connection = http.client.HTTPConnection(host, port)
            for _ in range(total // batch // CLIENTS):
                connection.request("POST", "/v1/collections/speed/reports", body)
                acknowledged[which] += json.loads(connection.getresponse().read())["accepted"]

        began, before = time.time(), cpu_seconds(server)
        threads = [threading.Thread(target=send, args=(i,)) for i in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took, used = time.time() - began, cpu_seconds(server) - before
        server.send_signal(signal.SIGKILL)
        server.wait()
        again, host, port = serve(folder)
        connection = http.client.HTTPConnection(host, port)
        connection.request("GET", "/v1/collections")
        kept = json.loads(connection.getresponse().read())[0]["reports"]
        again.terminate()
        again.wait()
        lost = sum(acknowledged) - kept
        failed |= lost > 0
        print(json.dumps({"form": form, "reports": sum(acknowledged), "batch": batch, "seconds": round(took, 2),
                          "reports_per_second": round(sum(acknowledged) / took),
                          "server_cpu_seconds": round(used, 2), "reports_per_cpu_second": round(sum(acknowledged) / max(used, 0.01)),
                          "kept_after_kill_9": kept, "lost": max(0, lost)}))
sys.exit(1 if failed else 0)
