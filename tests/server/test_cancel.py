"""A question that nobody waits for any more is stopped where it runs, and costs what it cost."""
import threading
import time

import psycopg
import pytest

from harness import Served, wait_until

# Hours of work if nobody stops it: 20 people beside all pairs of a million numbers.
ENDLESS = "select count(*) from people p, numbers a, numbers b where (a.n * b.n) % 97 = p.age"


@pytest.fixture
def small():
    server = Served(arguments=["--quantum", "20", "--workers", "1", "--timeout", "5"])
    with open(server.folder / "numbers.csv", "w") as f:
        f.write("n\n" + "".join(f"{i}\n" for i in range(1_000_000)))
    with open(server.policy, "a") as f:
        f.write('[tables.numbers]\nsource = "numbers.csv"\npublic = true\n')
    with server:
        yield server
    server.verify()


def spent(made):
    return float(made.execute("select epsilon_spent from discreet.budget where account = 'alice'").fetchone()[0])


def answers_soon(made):
    """The one worker is free again."""
    started = time.time()
    made.execute("select count(*) from people")
    return time.time() - started < 4


def test_cancelling_stops_the_engine(small):
    with psycopg.connect(small.dsn(), autocommit=True) as made, psycopg.connect(small.dsn(), autocommit=True) as other:
        made.execute("set discreet.epsilon = 0.5")
        other.execute("set discreet.epsilon = 0.25")
        timer = threading.Timer(1.5, made.cancel)
        timer.start()
        with pytest.raises(psycopg.errors.QueryCanceled, match="user request"):
            made.execute(ENDLESS)
        timer.join()
        assert answers_soon(other)
        assert spent(other) == pytest.approx(0.75)


def test_a_timeout_stops_the_engine(small):
    with psycopg.connect(small.dsn(), autocommit=True) as made:
        made.execute("set discreet.epsilon = 0.25")
        with pytest.raises(psycopg.errors.QueryCanceled, match="timeout"):
            made.execute(ENDLESS)
        # Within the slot that an answer would have left in: five seconds and no more than as many again.
        assert wait_until(lambda: small.request("GET", "/healthz")[0] == 200)
        time.sleep(6)
        assert answers_soon(made)


def test_what_is_cancelled_in_line_is_not_charged(small):
    with psycopg.connect(small.dsn(), autocommit=True) as first, psycopg.connect(small.dsn(), autocommit=True) as second:
        first.execute("set discreet.epsilon = 0.5")
        second.execute("set discreet.epsilon = 0.25")
        stuck = threading.Thread(target=lambda: pytest.raises(psycopg.errors.QueryCanceled, first.execute, ENDLESS))
        stuck.start()
        time.sleep(1)
        timer = threading.Timer(0.5, second.cancel)
        timer.start()
        with pytest.raises(psycopg.errors.QueryCanceled):
            second.execute("select count(*) from people where age > 30")
        timer.join()
        first.cancel()
        stuck.join()
        second.execute("set discreet.epsilon = 0.125")
        assert answers_soon(second)
        assert spent(second) == pytest.approx(0.625)


def test_within_a_slot_cancelling_tells_nothing():
    """Whether a question was done when it was cancelled would be seen in whether it is free the second time. So it goes on until
    its answer might have left: a second's work, cancelled at once, is on record when the eight seconds of its slot are over."""
    server = Served(arguments=["--quantum", "8000", "--workers", "1"])
    with open(server.folder / "numbers.csv", "w") as f:
        f.write("n\n" + "".join(f"{i}\n" for i in range(200_000)))
    with open(server.policy, "a") as f:
        f.write('[tables.numbers]\nsource = "numbers.csv"\npublic = true\n')
    work = "select count(*) from people p, numbers a where (a.n * p.age + p.age) % 97 = 5"
    with server, psycopg.connect(server.dsn(), autocommit=True) as made:
        made.execute("set discreet.epsilon = 0.5")
        timer = threading.Timer(0.1, made.cancel)
        timer.start()
        with pytest.raises(psycopg.errors.QueryCanceled):
            made.execute(work)
        timer.join()
        time.sleep(9)
        started = time.time()
        assert made.execute(work).fetchone() is not None
        assert time.time() - started < 4, "it was stopped before its slot ended"
        assert spent(made) == pytest.approx(0.5)
    server.verify()
