"""Strangers, slow ones, large ones, many at once, and a server that is killed."""
import concurrent.futures
import os
import random
import socket
import struct
import subprocess
import threading
import time

import psycopg
import pytest

from harness import PASSWORD, Served, wait_until


@pytest.fixture(scope="module")
def hard():
    server = Served(epsilon='"unlimited"', analyst_budget="unlimited,unlimited",
                    arguments=["--quantum", "10", "--message-timeout", "1500", "--max-message", "65536"])
    with server:
        yield server
    server.verify()


def raw(server, pg=True):
    host, port = (server.host, server.port) if pg else server.http.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=20)


def startup(user="alice"):
    body = struct.pack("!i", 196608) + b"user\0" + user.encode() + b"\0database\0discreet\0\0"
    return struct.pack("!i", len(body) + 4) + body


def closed(connection):
    try:
        while connection.recv(65536):
            pass
        return True
    except ConnectionError:
        return True


def test_a_stranger_gets_nothing_before_the_password(hard):
    with raw(hard) as c:
        c.sendall(startup() + b"Q" + struct.pack("!i", 13) + b"select 1\0")
        assert closed(c)
    for junk in (b"GET / HTTP/1.1\r\n\r\n", b"\x00\x00\x00\x04", b"\xff" * 64, struct.pack("!ii", 8, 131072)):
        with raw(hard) as c:
            c.sendall(junk)
            c.shutdown(socket.SHUT_WR)
            assert closed(c)


def test_slow_clients_are_closed_and_others_are_served_meanwhile(hard):
    slow = [raw(hard) for _ in range(20)] + [raw(hard, pg=False) for _ in range(20)]
    for i, c in enumerate(slow):
        c.sendall(startup()[:5] if i < 20 else b"POST /v1/query HTTP/1.1\r\nHost: x\r\nContent-Le")
    with psycopg.connect(hard.dsn(), autocommit=True) as c:
        assert c.execute("select 1").fetchone() == (1,)
    assert hard.request("GET", "/healthz")[0] == 200
    started = time.time()
    assert all(closed(c) for c in slow)
    assert time.time() - started < 20


def test_a_message_that_never_ends_is_cut_off(hard):
    with psycopg.connect(hard.dsn(), autocommit=True) as c:
        with socket.socket(fileno=os.dup(c.pgconn.socket)) as s:
            s.setblocking(True)
            s.settimeout(10)
            s.sendall(b"Q" + struct.pack("!i", 100) + b"select ")
            assert closed(s)


def test_oversize_messages_are_refused(hard):
    with psycopg.connect(hard.dsn(), autocommit=True) as c:
        with pytest.raises(psycopg.Error):
            c.execute("select '" + "x" * 100_000 + "'")
    status, _ = hard.request("POST", "/v1/query", "x" * 200_000)
    assert status == 413
    with raw(hard, pg=False) as c:
        c.sendall(b"GET / HTTP/1.1\r\n" + b"A: " + b"x" * 30_000)
        assert b"431" in c.recv(100)
    with raw(hard) as c:
        c.sendall(struct.pack("!i", 1 << 30))
        assert closed(c)


def test_half_closed_connections_end(hard):
    for pg in (True, False):
        with raw(hard, pg) as c:
            c.shutdown(socket.SHUT_WR)
            assert closed(c)
    with raw(hard, pg=False) as c:
        c.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        c.shutdown(socket.SHUT_WR)
        assert b"200 OK" in c.recv(1000)


def test_random_bytes_do_not_harm_the_server(hard):
    rng = random.Random(20261115)
    for i in range(60):
        with raw(hard, pg=i % 2 == 0) as c:
            if i % 4 == 0:
                c.sendall(startup())
            c.sendall(rng.randbytes(rng.randrange(1, 400)))
            c.shutdown(socket.SHUT_WR)
            assert closed(c)
    assert hard.request("GET", "/healthz")[0] == 200


def test_guessing_passwords_becomes_slow(hard):
    def attempt(password):
        started = time.time()
        status, _ = hard.request("POST", "/v1/login", {"name": "bob", "password": password})
        return status, time.time() - started
    waits = [attempt(f"guess-number-{i}") for i in range(6)]
    assert all(status == 401 for status, _ in waits)
    assert waits[-1][1] > 0.4, waits
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        many = list(pool.map(lambda i: attempt(f"guess-at-once-{i}"), range(16)))
    assert any(status == 429 for status, _ in many), many
    # Somebody else is not held up.
    assert hard.request("POST", "/v1/login", {"name": "alice", "password": PASSWORD})[0] == 200


def test_unknown_names_look_like_known_ones(hard):
    def salt(user):
        with raw(hard) as c:
            c.sendall(startup(user))
            c.recv(1000)
            first = b"n,,n=,r=abcdefghijklmnop"
            body = b"SCRAM-SHA-256\0" + struct.pack("!i", len(first)) + first
            c.sendall(b"p" + struct.pack("!i", len(body) + 4) + body)
            reply = c.recv(1000)
            return dict(part.split(b"=", 1) for part in reply[9:].split(b","))
    known, unknown, again = salt("alice"), salt("mallory"), salt("mallory")
    assert known[b"i"] == unknown[b"i"] and len(known[b"s"]) == len(unknown[b"s"])
    assert unknown[b"s"] == again[b"s"] != known[b"s"]


def test_charged_answers_leave_in_time_slots():
    """No charged answer leaves before the first slot, most leave right at the start of one; a busy machine may delay some."""
    with Served(epsilon='"unlimited"', analyst_budget="unlimited,unlimited", arguments=["--quantum", "400"]) as server:
        with psycopg.connect(server.dsn(), autocommit=True) as c:
            def seconds(age):
                started = time.time()
                c.execute(f"select count(*) from people where age > {age}").fetchone()
                return time.time() - started
            c.execute("set discreet.epsilon = 1")
            times = []
            while len(times) < 30 and sum(any(0 <= t - 0.4 * k < 0.2 for k in (1, 2, 4, 8, 16)) for t in times) < 3:
                times.append(seconds(20 + len(times)))
                assert times[-1] > 0.4 - 0.004, times
            assert len(times) < 30, times
            assert any(seconds(20) < 0.39 for _ in range(30)), "a repeat need not wait"


def test_tls_with_channel_binding_and_required_tls(tmp_path):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")], check=True, capture_output=True)
    (tmp_path / "key.pem").chmod(0o600)
    with Served(arguments=["--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem"), "--require-tls"]) as server:
        with psycopg.connect(server.dsn(sslmode="require", channel_binding="require"), autocommit=True) as c:
            assert c.execute("select 1").fetchone() == (1,)
            assert c.pgconn.ssl_in_use
        with psycopg.connect(server.dsn(sslmode="require", channel_binding="disable"), autocommit=True) as c:
            assert c.execute("select count(*) from wards").fetchone() == (3,)
        with pytest.raises(psycopg.OperationalError, match="encrypted"):
            psycopg.connect(server.dsn(sslmode="disable"))
        done = subprocess.run(["curl", "-sk", f"https://{server.http}/healthz"], capture_output=True, text=True)
        assert done.stdout == "ok"
        assert server.request("GET", "/v1/me")[0] == 403


def test_killed_under_load_nothing_is_lost_and_no_one_is_in():
    server = Served(epsilon='"unlimited"', analyst_budget="unlimited,unlimited", arguments=["--quantum", "5"])
    answers, stop = {}, threading.Event()
    for round_ in range(3):
        server.start()
        stop.clear()

        def ask(worker):
            rng = random.Random(f"{round_}-{worker}")
            try:
                with psycopg.connect(server.dsn(), autocommit=True) as c:
                    while not stop.is_set():
                        sql = f"select count(*) from people where age > {rng.randrange(20, 80)} and person_id > {rng.randrange(1000)}"
                        answers[sql] = c.execute(sql).fetchone()[0]
            except psycopg.Error:
                pass
        threads = [threading.Thread(target=ask, args=(w,)) for w in range(8)]
        for t in threads:
            t.start()
        # In the middle of it, however slow the machine is today.
        before = len(answers)
        assert wait_until(lambda: len(answers) >= before + 6, 60)
        server.kill()
        stop.set()
        for t in threads:
            t.join()
        server.verify()
    assert len(answers) > 10
    with server:
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(server.dsn(password="wrong-password"))
        with psycopg.connect(server.dsn(), autocommit=True) as c:
            for sql, answer in random.Random(1).sample(sorted(answers.items()), min(20, len(answers))):
                assert c.execute(sql).fetchone()[0] == answer, "an answer that left is on record"
    server.verify()


def test_shutting_down_ends_idle_sessions_and_lets_busy_ones_finish():
    server = Served(epsilon='"unlimited"', analyst_budget="unlimited,unlimited", arguments=["--quantum", "700"]).start()
    idle = psycopg.connect(server.dsn(), autocommit=True)
    outcome, connected = [], threading.Event()

    def busy():
        with psycopg.connect(server.dsn(), autocommit=True) as c:
            connected.set()
            outcome.append(c.execute("select count(*) from people").fetchone()[0])
    thread = threading.Thread(target=busy)
    thread.start()
    assert connected.wait(60)
    time.sleep(0.4)
    server.stop()
    thread.join()
    assert len(outcome) == 1
    with pytest.raises(psycopg.Error):
        idle.execute("select 1")
