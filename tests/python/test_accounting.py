"""Accounting: the same figures as the command line, and the laws that any figures obey."""
import json
import math
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet import accounting as acc


@settings(max_examples=15, deadline=None)
@given(count=st.integers(1, 1000), sigma=st.floats(5, 50), scale=st.floats(2, 50), delta=st.sampled_from([1e-8, 1e-6, 1e-4]))
def test_epsilon_is_the_command_lines(cli, count, sigma, scale, delta):
    told = cli("account", "--compose", f"{count} x gaussian(sigma={sigma!r}) + 3 x laplace(scale={scale!r})", "--delta", repr(delta), "--json")[0]
    mine = acc.compose([count * acc.gaussian(sigma=sigma), 3 * acc.laplace(scale=scale)])
    assert mine.epsilon(delta) == told["epsilon"]
    assert mine.epsilon_interval(delta) == (told["lower"], told["upper"])


def test_intervals_hold_the_closed_form_and_are_narrow():
    low, high = acc.gaussian(sigma=1.0) and acc.compose([acc.gaussian(sigma=1.0)]).delta_interval(1.0)

    def phi(x):
        return 0.5 * math.erfc(-x / math.sqrt(2))

    exact = phi(0.5 - 1.0) - math.e * phi(-0.5 - 1.0)  # Balle and Wang 2018
    assert low <= exact <= high and high - low < 1e-6
    assert abs(acc.laplace(scale=2.0).epsilon(delta=0) - 0.5) < 1e-9


def test_events_add_repeat_and_travel():
    event = 3 * acc.gaussian(sigma=2.0) + acc.pure(0.1)
    assert sum([acc.pure(0.1), acc.pure(0.2)]).epsilon(delta=0) == pytest.approx(0.3)
    assert acc.Event.from_dict(event.to_dict()) == event and event != acc.pure(0.1)
    assert pickle.loads(pickle.dumps(event)) == event and hash(event) == hash(acc.Event.from_dict(event.to_dict()))
    assert acc.parse("3 x gaussian(sigma=2)").epsilon(delta=1e-6) == (3 * acc.gaussian(sigma=2)).epsilon(delta=1e-6)
    with pytest.raises(TypeError):
        event * 1.5
    with pytest.raises(discreet.InvalidInput):
        acc.parse("3 y gaussian")
    with pytest.raises(discreet.InvalidInput):
        acc.gaussian(sigma=0)
    with pytest.raises(discreet.InvalidParameter, match="loss"):
        acc.compose([discreet.mechanisms.Laplace(1.0)])


def test_more_releases_cost_more_and_a_sample_costs_less():
    one, ten = acc.compose([acc.gaussian(3.0)]), acc.compose([10 * acc.gaussian(3.0)])
    assert one.epsilon(1e-6) < ten.epsilon(1e-6) < 10 * one.epsilon(1e-6)
    assert ten.delta(1.0) > one.delta(1.0)
    assert acc.sampled(acc.gaussian(3.0), 0.01).epsilon(delta=1e-6) < one.epsilon(1e-6)
    assert acc.parallel([acc.pure(1.0), acc.pure(2.0)]).epsilon(delta=0) == pytest.approx(2.0)
    assert acc.group(acc.pure(1.0), 3).epsilon(delta=0) == pytest.approx(3.0)
    assert acc.compose([acc.laplace(1.0)], neighbours="replace_one").epsilon(0) == pytest.approx(2.0)


def test_events_without_a_loss_distribution_are_held_by_the_other_theorems():
    wide = acc.discrete_laplace(scale=2.0**42, sensitivity=2**41)
    assert (4 * wide).epsilon(delta=0) == pytest.approx(2.0) and acc.compose([4 * wide]).epsilon_interval(1e-6).lower == 0
    assert (10_000 * acc.discrete_laplace(scale=2.0**50, sensitivity=2**41)).epsilon(delta=1e-6) < 10_000 / 512


def test_other_definitions():
    job = acc.compose([100 * acc.gaussian(sigma=10.0)])
    assert job.rho == pytest.approx(0.5)
    assert job.rdp(2.0) == pytest.approx(1.0)
    assert job.epsilon(1e-6) <= job.rdp_epsilon(1e-6) <= acc.epsilon_of_rho(0.5, 1e-6) * 1.001
    lines = {t.method: t for t in job.theorems(1e-6)}
    assert lines["PLD"].epsilon == job.epsilon(1e-6) and set(lines) >= {"basic", "zCDP", "RDP"}
    profile = job.profile([0.0, 1.0, 5.0])
    assert profile[0].upper > profile[1].upper > profile[2].upper
    curve = job.trade_off([0.0, 0.1, 0.5, 1.0])
    assert curve[0] > curve[1] > curve[2] >= curve[3] >= 0
    assert acc.rho_for(5.0, 1e-6) > 0 and "epsilon at" in job._repr_html_()


def test_the_best_filter_admits_few_large_and_many_small_releases():
    few = acc.Filter(1.0, 1e-6)
    few.spend(acc.pure(0.5))
    few.spend(acc.pure(0.5))
    with pytest.raises(discreet.BudgetExhausted):
        few.spend(acc.pure(0.01))
    many = acc.Filter(1.0, 1e-6)
    small = acc.pure(0.005)
    count = 0
    while many.fits(small):
        many.spend(small)
        count += 1
    assert count > 1.5 * 200 and (count * small).epsilon(delta=1e-6) <= 1.0  # sums alone would stop at 200
    assert list(many.state) == ["concentrated"]
    with pytest.raises(discreet.Refused):
        acc.Filter(1.0).spend(acc.gaussian(20.0))  # no delta, no Gaussian


@pytest.mark.parametrize("kind", ["best", "basic", "concentrated", "renyi", "gaussian"])
def test_filters_admit_until_the_promise_would_break(kind):
    event = acc.pure(0.1) if kind == "basic" else acc.gaussian(sigma=20.0)
    budget = acc.Filter(1.0, 1e-6, kind=kind)
    spent = 0
    while budget.fits(event):
        budget.spend(event)
        spent += 1
        assert spent < 10_000
    with pytest.raises(discreet.BudgetExhausted):
        budget.spend(event)
    assert spent > 0 and acc.compose([spent * event]).epsilon(1e-6) <= 1.0 + 1e-9
    restored = acc.Filter.restore(budget.save())
    assert not restored.fits(event) and restored.state == budget.state
    with pytest.raises(discreet.InvalidInput):
        acc.Filter.restore("{}")


def test_odometers_count_without_a_limit():
    meter = acc.Odometer(1e-6)
    before = 0.0
    for _ in range(5):
        meter.spend(acc.gaussian(sigma=5.0))
        assert meter.epsilon > before
        before = meter.epsilon
    assert meter.delta == pytest.approx(1e-6)


def test_calibration_meets_its_target_and_little_more():
    sigma = acc.calibrate_gaussian(2.0, 1e-6, releases=50)
    assert (50 * acc.gaussian(sigma)).epsilon(delta=1e-6) <= 2.0
    assert (50 * acc.gaussian(sigma * 0.99)).epsilon(delta=1e-6) > 2.0
    sampled = acc.calibrate_gaussian(2.0, 1e-6, releases=50, sampling_probability=0.1)
    assert sampled < sigma
    assert acc.calibrate_laplace(1.0) == pytest.approx(1.0, rel=1e-3)
    many = acc.most_releases(acc.gaussian(20.0), epsilon=1.0, delta=1e-6)
    assert (many * acc.gaussian(20.0)).epsilon(delta=1e-6) <= 1.0 < ((many + 1) * acc.gaussian(20.0)).epsilon(delta=1e-6)
    shares = acc.split_epsilon([(1, 1), (10, 1)], 1.0)
    assert sum(shares) <= 1.0 and shares[1] > shares[0]
    assert acc.shuffled_epsilon(100_000, 1.0, 1e-6) < 0.1
    assert acc.group_privacy(1.0, 1e-6, 2)[0] == pytest.approx(2.0)


def test_the_entries_of_account_files_give_the_same_values(cli, tmp_path):
    entries = [{"id": "a", "mechanism": "gaussian", "params": {"sigma": 2.0, "sensitivity": 1.0}, "compositions": 7,
                "neighbouring": "add_remove", "quantity": "epsilon_at_delta", "at": 1e-5}]
    (tmp_path / "entries.json").write_text(json.dumps(entries))
    told = cli("account", tmp_path / "entries.json")[0]
    assert told["value"] == (7 * acc.gaussian(2.0)).epsilon(delta=1e-5)
