"""A server on a small town of its own, for tests: data, policy, users, start, stop."""
import csv
import http.client
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

PASSWORD = "a-long-password"
WARDS = ["ICU", "ER", "MAT"]


def binary():
    return os.environ.get("DISCREET", str(pathlib.Path(__file__).parents[2] / "build/bin/discreet"))


class Served:
    """A policy in a folder of its own, and the server on it."""

    def __init__(self, epsilon=50.0, arguments=(), analyst_budget="5,1e-7", folder=None):
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="discreet-server-"))
        self.arguments = list(arguments)
        self.process = None
        self.policy = self.folder / "discreet.toml"
        if not self.policy.exists():
            self._write(epsilon)
            self.add_user("alice", analyst_budget)
            self.add_user("bob", "0.6,0")
            self.add_user("carol", None)
            self.add_user("owner", None)

    def _write(self, epsilon):
        with open(self.folder / "people.csv", "w", newline="") as f:
            w = csv.writer(f)
            w.writerow(["person_id", "ward", "age", "born", "vip", "income", "secret"])
            for i in range(2000):
                w.writerow([i % 1000, WARDS[i % 3], 20 + (i * 7) % 60, f"19{40 + i % 60}-03-0{1 + i % 9}",
                            "true" if i % 5 == 0 else "false", f"{1000 + i % 700}.50", f"s{i}"])
        with open(self.folder / "wards.csv", "w", newline="") as f:
            w = csv.writer(f)
            w.writerow(["ward", "beds", "opened"])
            for i, ward in enumerate(WARDS):
                w.writerow([ward, 10 * (i + 1), f"2001-0{i + 1}-01"])
        limit = epsilon if isinstance(epsilon, str) else f"{epsilon}"
        self.policy.write_text(f"""
[tables.people]
source = "people.csv"
unit = "person_id"
max_rows_per_unit = 2
[tables.people.columns]
age = {{ range = [0, 120] }}
income = {{ range = [0.0, 5000.0] }}
ward = {{ values = ["ICU", "ER", "MAT", "NONE"] }}
secret = {{ hidden = true }}
[tables.wards]
source = "wards.csv"
public = true
[budgets.default]
epsilon = {limit}
delta = 1e-6
[analysts.carol]
budget = {{ epsilon = 1.0, delta = 1e-8, of = "default" }}
tables = ["wards"]
""")

    def run(self, *arguments, stdin=None):
        return subprocess.run([binary(), *map(str, arguments)], input=stdin, capture_output=True, text=True)

    def add_user(self, name, budget):
        extra = ["--budget", budget] if budget else []
        done = self.run("user", "add", name, "--policy", self.policy, *extra, "--password-stdin", stdin=PASSWORD + "\n")
        assert done.returncode == 0, done.stderr

    def token(self, name):
        return self.run("user", "token", name, "--policy", self.policy).stdout.strip()

    def start(self):
        self.errors = open(self.folder / "log.jsonl", "a")
        self.process = subprocess.Popen(
            [binary(), "serve", "--policy", str(self.policy), "--pg-port", "0", "--http-port", "0", *self.arguments],
            stdout=subprocess.PIPE, stderr=self.errors, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("ready "), (line, (self.folder / "log.jsonl").read_text()[-2000:])
        at = dict(part.split("=", 1) for part in line.split()[1:])
        self.host, port = at["pg"].rsplit(":", 1)
        self.port = int(port)
        self.http = at["http"]
        return self

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            code = self.process.wait(30)
            assert code == 0, f"the server ended with {code}"

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    # -- ways in

    def dsn(self, user="alice", password=PASSWORD, **more):
        parts = dict(host=self.host, port=self.port, user=user, password=password, dbname="discreet", **more)
        return " ".join(f"{k}={v}" for k, v in parts.items())

    def environment(self, user="alice"):
        return dict(os.environ, PGHOST=self.host, PGPORT=str(self.port), PGUSER=user, PGPASSWORD=PASSWORD,
                    PGDATABASE="discreet", PGCONNECT_TIMEOUT="10", LC_ALL="C.UTF-8", PAGER="cat")

    def psql(self, *arguments, user="alice", stdin=None):
        return subprocess.run(["psql", "-X", *arguments], env=self.environment(user), input=stdin,
                              capture_output=True, text=True, timeout=60)

    def request(self, method, path, body=None, token=None, headers=None):
        connection = http.client.HTTPConnection(self.http, timeout=30)
        head = dict(headers or {})
        if token:
            head["Authorization"] = f"Bearer {token}"
        data = json.dumps(body) if isinstance(body, (dict, list)) else body
        connection.request(method, path, body=data, headers=head)
        reply = connection.getresponse()
        content = reply.read()
        connection.close()
        kind = reply.getheader("Content-Type", "")
        return reply.status, json.loads(content) if kind.startswith("application/json") else content

    def verify(self):
        """The ledger adds up."""
        done = self.run("ledger", "verify", "--policy", self.policy)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def log_lines(self):
        return [json.loads(line) for line in (self.folder / "log.jsonl").read_text().splitlines() if line.startswith("{")]


def wait_until(condition, seconds=10):
    end = time.time() + seconds
    while time.time() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False
