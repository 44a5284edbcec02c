"""Local reports, audits of other people's functions, attacks, and the client of private aggregation."""
import json
import math
import signal
import socket
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import discreet
from conftest import binary
from discreet import attacks, audit, local, mechanisms, prio


@pytest.mark.parametrize("oracle", ["grr", "oue", "olh", "hr", "ss", "sue"])
def test_estimates_find_the_counts_within_their_error(oracle):
    known = {name for name in local.oracles()}
    if oracle not in known:
        pytest.skip(f"no oracle of that name among {sorted(known)}")
    values = np.repeat(np.arange(8), [4000, 2000, 1000, 500, 250, 250, 1000, 1000])
    survey = local.Collection(epsilon=2.0, values=8, oracle=oracle)
    found = survey.estimate(survey.randomize(values))
    assert found.reports == len(values) and found.refused == 0
    for row in found:
        true = (values == int(row.value)).sum()
        assert abs(row.estimate - true) < 6.5 * row.standard_error, row  # 1e-10 each
        assert row.low <= row.estimate <= row.high or row.estimate < 0


def test_reports_go_to_the_command_line_and_come_from_it(cli):
    survey = local.Collection(epsilon=3.0, labels=["cat", "dog", "bird"], oracle="grr" if "grr" in local.oracles() else None)
    reports = survey.randomize(["cat"] * 3000 + ["dog"] * 1000)
    told = {r["value"]: r for r in cli("local", "estimate", "--json", stdin=survey.to_ndjson(reports))}
    mine = {r.value: r for r in survey.estimate(reports)}
    assert set(told) == set(mine)
    for value, row in mine.items():
        assert row.estimate == pytest.approx(told[value]["estimate"]) and row.standard_error == pytest.approx(told[value]["stderr"])
    again, same = local.Collection.from_ndjson(survey.to_ndjson(reports))
    assert same == reports and again.epsilon == 3.0


def test_the_best_oracle_is_chosen_and_told():
    assert local.Collection(epsilon=1.0, values=2).oracle != local.Collection(epsilon=1.0, values=4096).oracle
    survey = local.Collection(epsilon=1.0, values=100)
    assert survey.error(10_000) > 0 and survey.central_epsilon(100_000, 1e-6) < 0.2
    found = survey.estimate(survey.randomize([5] * 5000), post="norm-sub")
    assert sum(r.estimate for r in found) == pytest.approx(5000) and min(r.estimate for r in found) >= 0
    assert found.top(1)[0].value == "5" and "±" in found._repr_html_() and len(found.to_pandas()) == 100
    with pytest.raises(discreet.InvalidParameter):
        survey.randomize([100])


def test_lasting_reports_are_those_of_every_other_client():
    """The vectors of the C++ and TypeScript clients. Rounds that are drawn afresh (RAPPOR's second) have no vector here."""
    vectors = json.loads((Path(__file__).parents[2] / "sdk/typescript/test/vectors.json").read_text())
    compared = set()
    for vector in vectors:
        survey = local.Collection.from_header(vector["header"])
        if "permanent_epsilon" in vector["header"]:
            continue
        secret = bytes.fromhex(json.loads(vector["secret"]))
        person = local.Client(survey, total=1e6)
        for told in vector["lasting"]:
            assert person.report_lasting(told["value"], secret).hex() == json.loads(told["report"]), vector["header"]
        assert person.spent <= len({told["value"] for told in vector["lasting"]}) * survey.epsilon * (1 + 1e-12)
        compared.add(survey.oracle)
    assert compared == set(local.oracles()) | {"sample", "split"}
    with pytest.raises(discreet.InvalidParameter):
        person.report_lasting(vector["lasting"][0]["value"], b"short")


@pytest.mark.parametrize("strategy", ["sample", "split"])
def test_records_of_several_attributes_are_estimated_row_by_row(strategy, cli):
    survey = local.Collection(epsilon=2.0, oracle=strategy, attributes={"drink": ["tea", "coffee"], "age": 3})
    people = [("tea", 0), {"age": 2, "drink": "coffee"}, "tea,1", ["coffee", 1]] * 2500
    reports = survey.randomize(people)
    found = survey.estimate(reports, post="norm-sub")
    assert [row.value for row in found] == ["drink=tea", "drink=coffee", "age=0", "age=1", "age=2"]
    assert sum(row.estimate for row in found) == pytest.approx(2 * len(people))
    for row, true in zip(survey.estimate(reports), [5000, 5000, 2500, 5000, 2500]):
        assert abs(row.estimate - true) < 6.5 * row.standard_error, row  # 1e-10 each
    told = cli("local", "estimate", "--json", stdin=survey.to_ndjson(reports))
    assert [row["value"] for row in told] == [row.value for row in found]
    person = local.Client(survey, total=2.0)
    assert len(person.report({"drink": "tea", "age": 2})) == survey.report_bytes
    for wrong in ({"drink": "tea"}, ("tea", 3), ("milk", 1)):
        with pytest.raises(discreet.DiscreetError):
            survey.randomize([wrong])


def test_a_person_gives_no_more_than_was_agreed(tmp_path):
    survey = local.Collection(epsilon=1.0, values=4)
    person = local.Client(survey, total=2.5, path=str(tmp_path / "budget"))
    assert len(person.report(1)) == survey.report_bytes == len(person.report(2))
    with pytest.raises(discreet.BudgetExhausted):
        person.report(3)
    assert person.spent == 2.0


def test_frequent_strings_are_found_without_a_list():
    hitters = local.HeavyHitters(epsilon=5.0, bytes_max=4)
    found = hitters.find(hitters.randomize(["tea"] * 30_000 + ["mate"] * 15_000 + [f"x{i % 997}" for i in range(5000)]))
    assert [r.value for r in found][:2] == ["tea", "mate"]


def test_means_of_numbers_in_a_range():
    kind = next(name for name in local.oracles() if "piecewise" in name)
    survey = local.Collection(epsilon=2.0, oracle=kind, range=(0.0, 10.0))
    found = survey.estimate(survey.randomize([2.5] * 20_000))
    assert abs(found[0].estimate - 2.5) < 6 * found[0].standard_error


# -- audits

def test_a_broken_function_is_refuted_and_a_right_one_is_not():
    right = mechanisms.Laplace(epsilon=1.0)
    fine = audit.callable(lambda rows: right.release(len(rows)), [1] * 10, [1] * 11, epsilon=1.0, trials=3000)
    assert not fine.refuted and fine.verdict == "pass" and fine.lower_bound <= 1.0
    wrong = mechanisms.Laplace(epsilon=3.0)
    found = audit.callable(lambda rows: wrong.release(len(rows)), [1] * 10, [1] * 11, epsilon=1.0, trials=20_000)
    assert found.refuted and found.lower_bound > 1.0 and "refuted" in found._repr_html_()


def test_floating_point_noise_is_refuted_by_its_last_bits():
    rng = np.random.default_rng(1)

    def leaky(exact, runs):
        return exact + rng.laplace(scale=1.0, size=runs)

    found = audit.callable(leaky, 0.0, 1.0, epsilon=1.0, trials=50_000, vectorised=True)
    assert found.refuted and found.lower_bound > 1.5, found
    grid = mechanisms.Laplace(epsilon=1.0)
    fine = audit.callable(lambda exact, runs: grid.release(np.full(runs, exact)), 0.0, 1.0, epsilon=1.0, trials=50_000, vectorised=True)
    assert not fine.refuted, fine


def test_outputs_that_are_not_numbers_are_compared_as_they_are():
    rr = mechanisms.RandomizedResponse(epsilon=4.0)
    said = [["no", "yes"][v] for v in rr.release(np.zeros(20_000, dtype=int))], [["no", "yes"][v] for v in rr.release(np.ones(20_000, dtype=int))]
    assert audit.outputs(*said, epsilon=1.0).refuted and not audit.outputs(*said, epsilon=4.0).refuted
    with pytest.raises(discreet.InvalidParameter):
        audit.outputs([1] * 100, [1] * 99, epsilon=1.0)
    with pytest.raises(discreet.InvalidParameter):
        audit.callable(3, 1, 2, epsilon=1.0)


def test_the_catalogue_can_be_audited_by_name():
    subjects = audit.mechanisms()
    assert any(s.planted for s in subjects) and any(not s.planted for s in subjects)
    assert not audit.mechanism("laplace", scale=0.1).refuted
    with pytest.raises(discreet.InvalidParameter, match="laplace"):
        audit.mechanism("laplase")


# -- attacks

def test_reconstruction_works_on_exact_counts_and_fails_on_private_ones():
    assert attacks.reconstruct(lambda counts: counts, people=100, queries=400) > 0.99
    private = mechanisms.Gaussian(epsilon=1.0, delta=1e-6, sensitivity=math.sqrt(400))
    # chance is one half; 100 bits are below 0.85 but for 1e-12
    assert attacks.reconstruct(lambda counts: private.release(np.array(counts)), people=100, queries=400) < 0.85


def test_attacks_report_success_against_a_guess():
    report = attacks.run("differencing", attempts=200)
    assert report.outcomes[0].success > 0.9 and report.outcomes[-1].success < 0.5
    assert report._repr_svg_().startswith("<svg") and "a guess" in str(report)
    assert {"reconstruct", "membership", "census"} <= set(attacks.names())
    with pytest.raises(discreet.InvalidParameter, match="linkage"):
        attacks.run("linkege")


# -- private aggregation

def test_a_prio_client_seals_reports_that_only_fit_the_task():
    files = prio.new_task("histogram", length=4, epsilon=1.0, leader="http://127.0.0.1:1", helper="http://127.0.0.1:2", min_batch_size=10)
    assert json.loads(files.task)["circuit"]["kind"] == "histogram" and files.leader != files.helper != files.collector
    client = prio.Client(files.task)
    client.add(2)
    client.add(0, time=int(time.time()) - 60)
    assert client.waiting == 2 and len(client.encoded()) > 200
    with pytest.raises(discreet.InvalidParameter):
        client.add(4)
    with pytest.raises(discreet.Unavailable):
        client.send()
    assert client.waiting == 2  # nothing is lost when nobody listens
    vector = prio.Client(prio.new_task("sum-vec", length=3, max=7, leader="http://127.0.0.1:1", helper="http://127.0.0.1:2").task)
    vector.add([1, 2, 7])
    with pytest.raises(discreet.InvalidParameter):
        vector.add([1, 2])


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def test_measurements_go_through_both_servers_and_only_the_noisy_sum_comes_out(tmp_path):
    month = 86400 * 30
    files = prio.new_task("histogram", length=3, epsilon=1.0, min_batch_size=50, time_precision=month, leader=f"http://localhost:{free_port()}",
                          helper=f"http://localhost:{free_port()}")
    for name, text in zip(("task", "leader", "helper", "collector"), files):
        (tmp_path / f"{name}.json").write_text(text)
        (tmp_path / f"{name}.json").chmod(0o600)
    servers = []
    try:
        for role in ("helper", "leader"):
            servers.append(subprocess.Popen([binary(), "prio", role, "--task", tmp_path / "task.json", "--secrets", tmp_path / f"{role}.json",
                                             "--state", tmp_path / role], stdout=subprocess.PIPE, text=True))
            assert servers[-1].stdout.readline().startswith("ready ")
        client = prio.Client(files.task)
        now = int(time.time())
        for bucket in [0] * 100 + [2] * 60:
            client.add(bucket, time=now)
        assert client.send() == {} and client.waiting == 0
        found = prio.collect(files.task, files.collector, start=now - now % month, duration=month)
        # two discrete Laplace noises of scale 2 an entry: beyond 60 with chance below 1e-11
        assert found.reports == 160 and all(abs(a - b) < 60 for a, b in zip(found.totals, [100, 0, 60])), found
        client.add(1, time=now)
        assert client.send() == {"batch collected": 1}  # too late
    finally:
        for server in servers:
            server.send_signal(signal.SIGTERM)
            server.wait(20)
