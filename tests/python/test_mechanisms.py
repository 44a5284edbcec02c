"""Mechanisms: shapes, errors, exactness of the noise, and the same figures as the command line gives.

Statistical bounds have false-alarm rates below 1e-6: noise cannot be seeded from Python, so they must be wide.
"""
import array
import math
import pickle
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet import mechanisms as m


def test_a_number_gives_a_number_a_list_a_list_an_array_an_array_of_its_shape():
    noise = m.Laplace(epsilon=1.0)
    assert isinstance(noise.release(7), int) and isinstance(noise.release(7.5), float)
    assert isinstance(noise.release([1, 2, 3]), list) and all(isinstance(v, int) for v in noise.release([1, 2, 3]))
    assert noise.release(np.zeros((4, 5))).shape == (4, 5)
    assert noise.release(np.zeros((2, 3), dtype=np.int32)).dtype == np.int64
    assert noise.release(np.zeros(3, dtype=np.float32)).dtype == np.float64
    assert noise.release(np.array([True, False])).dtype == np.int64
    assert noise.release(np.zeros(0)).shape == (0,)
    assert noise.release([]) == []


def test_strided_and_readonly_arrays_are_read_as_they_are_and_never_written():
    exact = np.arange(20, dtype=np.int64)
    exact.setflags(write=False)
    out = m.Laplace(epsilon=50.0).release(exact[::2])
    assert out.shape == (10,) and (exact == np.arange(20)).all()
    assert abs(out - exact[::2]).max() <= 2


def test_out_takes_the_release_in_place():
    values = np.zeros(1000, dtype=np.int64)
    assert m.Laplace(epsilon=0.01).release(values, out=values) is values
    assert (values != 0).any()
    with pytest.raises(discreet.InvalidParameter, match="as many entries"):
        m.Laplace(epsilon=1).release(np.zeros(3, dtype=np.int64), out=np.zeros(4, dtype=np.int64))
    with pytest.raises(TypeError):  # a wrong type is never converted behind one's back
        m.Laplace(epsilon=1).release(np.zeros(3, dtype=np.int64), out=np.zeros(3))


def test_the_callers_array_is_not_changed_without_out():
    values = np.full(100, 5, dtype=np.int64)
    m.Laplace(epsilon=0.01).release(values)
    assert (values == 5).all()


def test_noise_cannot_be_seeded():
    for name in m.__all__:
        thing = getattr(m, name)
        if isinstance(thing, type):
            code = thing.__init__.__code__ if hasattr(thing.__init__, "__code__") else None
            names = code.co_varnames if code else ()
            assert not {"seed", "rng", "random_state"} & set(names), name
    np.random.seed(1)
    first = m.Laplace(epsilon=0.001).release(np.zeros(8, dtype=np.int64))
    np.random.seed(1)
    assert (first != m.Laplace(epsilon=0.001).release(np.zeros(8, dtype=np.int64))).any()


def test_two_threads_and_two_calls_never_share_noise():
    wide = m.Laplace(epsilon=1e-9)
    found = []
    workers = [threading.Thread(target=lambda: found.append(tuple(wide.release(np.zeros(64, dtype=np.int64))))) for _ in range(8)]
    [w.start() for w in workers]
    [w.join() for w in workers]
    assert len(set(found)) == 8
    big = wide.release(np.zeros(100_000, dtype=np.int64), threads=3)
    assert len(np.unique(big)) > 99_900


def test_the_lock_is_released_while_noise_is_drawn():
    """Nobody is asked to hand the lock over for a minute, so the other thread moves only where it is let go of."""
    ticks, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            ticks[0] += 1
            time.sleep(0)  # lets go of the lock itself

    def ticks_during(work):
        before = ticks[0]
        work()
        return ticks[0] - before

    usual = sys.getswitchinterval()
    sys.setswitchinterval(60)
    other = threading.Thread(target=count)
    other.start()
    try:
        values = np.zeros(400_000, dtype=np.int64)
        draw = m.Gaussian(rho=1e-6)
        assert ticks_during(lambda: sum(range(100_000))) == 0  # work that keeps the lock
        assert any(ticks_during(lambda: draw.release(values)) > 0 for _ in range(100))  # on a busy machine the other thread may have to wait
    finally:
        stop.set()
        sys.setswitchinterval(usual)
        other.join()


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_laplace_noise_has_the_stated_distribution(epsilon):
    n = 200_000
    noise = m.Laplace(epsilon=epsilon).release(np.zeros(n, dtype=np.int64))
    r = math.exp(-epsilon)
    for z in (0, 1, -1, 3):  # P[Z = z] = (1 - r) / (1 + r) r^|z|, within six standard errors: 1e-8 each
        p = (1 - r) / (1 + r) * r ** abs(z)
        assert abs((noise == z).mean() - p) < 6 * math.sqrt(p * (1 - p) / n), (z, (noise == z).mean(), p)


def test_gaussian_noise_has_the_stated_spread_on_whole_numbers_and_fractions():
    n = 100_000
    for mechanism, values in ((m.Gaussian(rho=0.02), np.zeros(n, dtype=np.int64)), (m.Gaussian(rho=0.02, dimension=1), np.zeros(200)),
                              (m.Gaussian(rho=0.02), np.zeros(n))):
        noise = mechanism.release(values)
        sigma = 5.0  # 1 / sqrt(2 rho)
        slack = 6 / math.sqrt(2 * len(values))
        assert abs(noise.std() / sigma - 1) < slack + 0.01, (noise.std(), len(values))


def test_fractions_are_released_on_the_declared_grid():
    out = m.Laplace(epsilon=1.0, grid=0.25).release(np.linspace(0, 1, 1000))
    assert ((out / 0.25) == np.round(out / 0.25)).all()
    assert isinstance(m.Laplace(epsilon=1.0, grid=0.5).release(3), float)


def test_the_error_told_before_holds_for_the_releases():
    for mechanism, values, whole in ((m.Laplace(epsilon=0.3), np.zeros(50_000, dtype=np.int64), True), (m.Laplace(epsilon=0.3), np.zeros(50_000), False),
                                     (m.Gaussian(epsilon=1, delta=1e-6), np.zeros(50_000, dtype=np.int64), True)):
        if isinstance(mechanism, m.Gaussian):
            out = np.array([mechanism.release(0) for _ in range(20_000)])
        else:
            out = mechanism.release(values)
        inside = (abs(out) <= mechanism.error(0.95, whole=whole)).mean()
        assert inside > 0.95 - 6 * math.sqrt(0.05 * 0.95 / len(out))
        assert mechanism.error(0.99, whole=whole) > mechanism.error(0.9, whole=whole)
        assert mechanism.error(0.95, whole=whole, worst_of=100) > mechanism.error(0.95, whole=whole)


@settings(max_examples=25, deadline=None)
@given(epsilon=st.floats(0.01, 20), sensitivity=st.sampled_from([1, 2, 10, 0.5]))
def test_error_and_loss_are_those_of_the_command_line(cli, epsilon, sensitivity):
    told = cli("noise", "laplace", "--epsilon", repr(epsilon), "--sensitivity", repr(sensitivity), "--value", 0, "--json")[0]
    mine = m.Laplace(epsilon=epsilon, sensitivity=sensitivity)
    assert mine.error(0.95, whole=True) == told["error95"]
    grid = cli("noise", "laplace", "--epsilon", repr(epsilon), "--sensitivity", repr(sensitivity), "--value", "0.5", "--grid", "0.125", "--json")[0]
    assert m.Laplace(epsilon=epsilon, sensitivity=sensitivity, grid=0.125).error(0.95) == grid["error95"]


@settings(max_examples=10, deadline=None)
@given(epsilon=st.floats(0.1, 5), delta=st.floats(1e-9, 1e-3))
def test_gaussian_noise_is_the_command_lines(cli, epsilon, delta):
    told = cli("noise", "gaussian", "--epsilon", repr(epsilon), "--delta", repr(delta), "--value", 0, "--json")[0]
    assert m.Gaussian(epsilon=epsilon, delta=delta).error(0.95, whole=True) == told["error95"]


def test_bad_parameters_are_refused_with_the_command_lines_words(cli):
    for wrong in (lambda: m.Laplace(epsilon=0), lambda: m.Laplace(epsilon=-1), lambda: m.Laplace(epsilon=float("nan")),
                  lambda: m.Laplace(epsilon=1, sensitivity=0), lambda: m.Gaussian(epsilon=1, delta=0), lambda: m.Gaussian(epsilon=1),
                  lambda: m.Gaussian(1, 1e-6, rho=1), lambda: m.Quantile(1, lower=5, upper=1), lambda: m.Histogram(1),
                  lambda: m.RandomizedResponse(1, truth=0.7), lambda: m.Exponential(1).choose([]), lambda: m.Tree(leaves=4),
                  lambda: m.BoundedLaplace(1, lower=0, upper=10, form="bent"), lambda: m.Laplace(1).release(["a"]),
                  lambda: m.Laplace(1).release([[1], [2]]), lambda: m.Staircase(1).release(0.5)):
        with pytest.raises(discreet.InvalidParameter):
            wrong()
    with pytest.raises(discreet.InvalidParameter) as refused:
        m.Laplace(epsilon=0)
    said = cli("noise", "laplace", "--epsilon", "0", "--value", "1", code=2)
    assert str(refused.value) in said


def test_values_beyond_64_bits_saturate():
    assert abs(m.Laplace(epsilon=10).release(2**80) - (2**63 - 1)) < 100
    assert abs(m.Laplace(epsilon=10).release(np.array([2**64 - 1], dtype=np.uint64))[0] - (2**63 - 1)) < 100


def test_randomized_response_can_be_undone_on_average():
    n = 100_000
    answers = np.arange(n) % 10 < 3
    mechanism = m.RandomizedResponse(epsilon=1.0)
    reports = mechanism.release(answers)
    assert reports.dtype == bool
    found = mechanism.estimate(reports)
    assert abs(found.count - 0.3 * n) < 6 * found.standard_error
    assert found.low < found.count < found.high
    assert abs(m.RandomizedResponse(truth=0.75).epsilon - math.log(3)) < 1e-9
    assert mechanism.release([True, False]) in ([a, b] for a in (True, False) for b in (True, False))
    with pytest.raises(discreet.InvalidParameter):
        m.RandomizedResponse(1.0, values=3).release([0, 3])


def test_choices_prefer_good_scores_and_obey_their_error():
    scores = np.array([0, 5, 1000, 3])
    for mechanism in (m.Exponential(1.0), m.PermuteAndFlip(1.0), m.NoisyMax(1.0)):
        assert all(mechanism.choose(scores) == 2 for _ in range(20))  # wrong with chance below e^-400
        assert mechanism.error(4) > 0
    assert m.TopK(4.0, 2).choose(scores * 100)[0] == 2
    assert m.Exponential(1.0).choose([0.0, 1000.5]) == 1
    index, gap = m.NoisyMax(1.0, laplace=True).choose_with_gap(scores)
    assert index == 2 and gap > 0


def test_sparse_vector_stops_when_it_has_said_yes_often_enough():
    run = m.SparseVector(epsilon=5.0, answers_max=2).start(threshold=1000)
    assert [run.above(x) for x in (0, 10_000, 0, 10_000)] == [False, True, False, True]
    assert run.answers_left == 0
    with pytest.raises(discreet.BudgetExhausted):
        run.above(0)
    numeric = m.SparseVector(epsilon=5.0, values=0.5, grid=0.5).start(threshold=100.0)
    assert numeric.value_above(0.0) is None  # noise of scale below 2 would have to bridge 100
    assert abs(numeric.value_above(10_000.0) - 10_000) < 200


def test_statistics_of_rows_are_near_the_truth():
    rng = np.random.default_rng(5)
    rows = rng.normal(50, 10, 100_000).clip(0, 100)
    # Laplace noise passes 14 of its standard deviations with chance e^(-14 sqrt 2) = 3e-9.
    found = m.Mean(epsilon=1.0, lower=0.0, upper=100.0, variance=True).release(rows)
    assert abs(found.mean.value - rows.mean()) < 14 * found.mean.standard_error + 1e-3
    assert abs(found.variance.value - rows.var(ddof=1)) < 14 * found.variance.standard_error + 1e-2
    assert abs(found.count.value - len(rows)) < 60
    whole = m.Mean(epsilon=1.0, lower=0, upper=100).release(rows.astype(int))
    assert abs(whole.mean.value - rows.astype(int).mean()) < 14 * whole.mean.standard_error + 1e-6
    assert m.Mean(epsilon=1.0, lower=0, upper=100).error(100_000) < 0.01
    for q in (0.1, 0.5, 0.9):
        value = m.Quantile(epsilon=1.0, q=q, lower=0.0, upper=100.0).release(rows)
        assert abs((rows < value).mean() - q) * len(rows) < m.Quantile(1.0, q, lower=0.0, upper=100.0).error(1 - 1e-8)
    several = m.Quantiles(1.0, [0.1, 0.5, 0.9], lower=0.0, upper=100.0).release(rows)
    assert list(several) == sorted(several) and abs(several[1] - 50) < 1
    # A range of 1,000 draws them away from 93 and 6: at epsilon 9 once in some 300 releases, at 40 never in e^30.
    assert 80 < m.Maximum(40.0, lower=0, upper=1000).release(rows.astype(int)) <= 110
    assert -5 < m.Minimum(40.0, lower=-1000, upper=100).release(rows.astype(int)) < 20
    assert abs(m.Correlation(1.0, first=(0.0, 100.0), second=(0.0, 100.0)).release(rows, rows).value - 1) < 0.02
    assert abs(m.Covariance(1.0, first=(0.0, 100.0), second=(0.0, 100.0)).release(rows, 100 - rows).value + 100) < 3


def test_missing_values_and_infinities_count_as_rows_within_the_range():
    found = m.Mean(epsilon=10.0, lower=0.0, upper=10.0).release([float("nan"), float("inf"), float("-inf"), 5.0] * 5000)
    assert abs(found.mean.value - 3.75) < 0.05


@settings(max_examples=30, deadline=None)
@given(rows=st.lists(st.floats(-10, 110, allow_nan=False), max_size=200), edges=st.lists(st.integers(0, 100), min_size=2, max_size=12, unique=True))
def test_histograms_count_like_numpy(rows, edges):
    edges = sorted(float(e) for e in edges)
    exact = np.histogram(rows, edges)[0]
    got = m.Histogram(200.0, edges).release(rows)  # at epsilon 200 noise is zero but for e^-200
    assert (got == exact).all()


def test_histograms_can_be_made_sensible():
    out = m.Histogram(0.5, categories=50).release(np.zeros(1000, dtype=int), nonnegative=True)
    assert (out >= 0).all() and out.dtype == np.int64
    assert m.Histogram(0.5, categories=50).error(worst=True) > m.Histogram(0.5, categories=50).error()


def test_trees_answer_ranges_consistently():
    tree = m.Tree(epsilon=2.0, leaves=64)
    counts = tree.release(np.repeat(np.arange(64), 100))
    left, right, both = counts.range(0, 31), counts.range(32, 63), counts.range(0, 63)
    assert abs(left.value + right.value - both.value) < 1e-6
    assert abs(both.value - 6400) < 14 * both.standard_error + 1  # sums of Laplace noise: 3e-9 at most
    assert (np.diff(counts.cumulative) >= -1e-9).all() and 28 <= counts.quantile(0.5) <= 36
    assert tree.error(0, 31) > 0


def test_keys_of_single_people_are_almost_never_named():
    selection = m.PartitionSelection(epsilon=1.0, delta=1e-8)
    kept = selection.keep(np.array([1] * 1000 + [200] * 10))
    assert kept[1000:].all() and kept[:1000].sum() <= 1  # more than one: chance below 1e-9
    shown, counts = selection.release(np.array([0, 500]))
    assert not shown[0] and shown[1] and abs(counts[1] - 500) < 60
    assert selection.keep_probability(1) <= 1.0001e-8


def test_samples_and_blocks():
    sample = m.PoissonSample(0.1).draw(100_000)
    assert 9_000 < len(sample) < 11_000 and len(set(sample)) == len(sample)
    fixed = m.FixedSample(10, 100).draw()
    assert len(set(fixed)) == 10 and max(fixed) < 100
    cheaper = m.PoissonSample(0.1).loss(m.Laplace(1.0).loss)
    assert cheaper.epsilon(delta=1e-9) < 0.2
    rows = np.random.default_rng(2).normal(40, 5, 20_000)
    block = m.SampleAndAggregate(2.0, blocks=200, lower=0.0, upper=100.0)
    assert abs(block.release(rows, lambda r: np.median(r) if len(r) else 0.0) - 40) < 2


def test_post_processing_keeps_totals():
    assert abs(m.nonnegative([-5.0, 3.0, 10.0]).sum() - 8) < 1e-9
    assert m.whole([1.4, 1.4, 1.2]).sum() == 4


def test_losses_can_be_pickled_and_priced():
    for mechanism in (m.Laplace(1.0), m.Gaussian(1, 1e-6), m.Exponential(0.5), m.Quantile(1, lower=0, upper=9), m.Mean(1, lower=0, upper=9)):
        assert pickle.loads(pickle.dumps(mechanism.loss)) == mechanism.loss
        assert 0 < mechanism.loss.epsilon(delta=1e-6) < 2


def test_arrays_of_gaussian_noise_are_priced_as_arrays():
    noise = m.Gaussian(epsilon=1.0, delta=1e-6)
    one, many = noise.loss_of(0), noise.loss_of(np.zeros(100, dtype=int))
    assert one == noise.loss and many != one
    assert many.to_dict()["dimension"] == 100 and many.to_dict()["sigma2"] >= one.to_dict()["sigma2"]
    assert m.Laplace(1.0).loss_of(np.zeros(100, dtype=int)) == m.Laplace(1.0).loss


def test_dimension_says_how_many_entries_one_person_moves():
    values = np.zeros(50_000)
    spread = m.Laplace(1.0, dimension=1).release(values).std(), m.Laplace(1.0).release(values).std()
    assert abs(spread[0] / math.sqrt(2) - 1) < 0.06 and abs(spread[1] / math.sqrt(2) - 1) < 0.06
    assert abs(m.Gaussian(rho=0.5, dimension=2).release(np.zeros(1001, dtype=int)).std() - 1) < 0.2


def test_numbers_and_lists_work_without_numpy(monkeypatch):
    monkeypatch.setattr("discreet._arrays.numpy", None)
    assert isinstance(m.Laplace(1.0).release([1, 2, 3]), list)
    assert isinstance(m.Laplace(1.0).release(array.array("d", [1.0])), list)
    assert isinstance(m.Laplace(1.0).release(3.5), float)
    assert len(m.Histogram(1.0, [0, 1, 2]).release([0.5, 1.5])) == 2
    assert m.Mean(1.0, lower=0, upper=10).release([1, 2, 3]).count.value < 100
    assert isinstance(m.PartitionSelection(1.0, 1e-6).keep([5, 500]), list)
    with pytest.raises(discreet.InvalidParameter, match="install numpy"):
        m.Laplace(1.0).release(np.zeros(3))
