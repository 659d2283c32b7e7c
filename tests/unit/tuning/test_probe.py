"""A few items tell how far apart a kernel sees all of them, and how long they would take."""

import numpy as np
import pytest

from pegasos.errors import PegasosError
from pegasos.kernels import RBF, Spectrum
from pegasos.tuning.probe import Probe
from pegasos.tuning.space import Setting, Space

WORDS = ["".join(np.random.default_rng(i).choice(list("abcd"), 8)) for i in range(40)]


def test_the_spread_is_half_the_mean_squared_distance_of_two_items():
    probe = Probe(WORDS[:10])
    kernel = Spectrum(2).normalized()
    features = kernel.features(WORDS[:10]).toarray()
    apart = [np.sum((features[i] - features[j]) ** 2) for i in range(10) for j in range(i)]
    assert probe.look(kernel).spread == pytest.approx(np.mean(apart) / 2.0)


def test_the_items_come_from_all_parts_of_the_collection():
    assert Probe.of(WORDS[:5]).items == WORDS[:5]
    assert Probe.of(WORDS).items == WORDS[::3]
    assert len(Probe.of(list(range(1000))).items) == 16


def test_a_kernel_is_looked_at_once(monkeypatch):
    reads = []
    read = Spectrum.read
    monkeypatch.setattr(Spectrum, "read", lambda self, items: reads.append(self) or read(self, items))
    probe = Probe.of(WORDS)
    assert probe.look(Spectrum(2)) is probe.look(Spectrum(2))
    assert reads == [Spectrum(2)]
    probe.look(Spectrum(3))
    assert len(reads) == 2


@pytest.mark.parametrize("items", [["ab"], ["ab"] * 6, ["ab", "cd"]])
def test_items_that_are_all_alike_or_alone_have_a_unit(items):
    assert Probe.of(items).look(Spectrum(2)).spread == 1.0


def test_a_kernel_that_refuses_the_items_leaves_it_to_the_fit_to_say_so():
    assert Probe.of(WORDS).look(RBF(1.0)).spread == 1.0
    with pytest.raises(PegasosError):
        RBF(1.0).block(WORDS, WORDS)


def test_the_time_of_all_items_is_foreseen_without_what_a_call_costs_whatever_the_items(monkeypatch):
    now = [0.0]
    read, evaluate = Spectrum.read, Spectrum.evaluate

    def slow_read(self, items):
        now[0] += 0.001 * len(items)
        return read(self, items)

    def slow_evaluate(self, a, b):
        now[0] += 0.02 + 1e-4 * len(a) * len(b)
        return evaluate(self, a, b)

    monkeypatch.setattr("pegasos.tuning.probe.perf_counter", lambda: now[0])
    monkeypatch.setattr(Spectrum, "read", slow_read)
    monkeypatch.setattr(Spectrum, "evaluate", slow_evaluate)
    foreseen = Probe.of(WORDS).look(Spectrum(2)).seconds(1000)
    assert foreseen == pytest.approx(0.001 * 1000 + 1e-4 * 1000**2, rel=0.01)


def test_lam_counts_in_the_spread_of_the_items():
    space = Space.of(WORDS, "strings", 2, class_weights=(None,), rng=np.random.default_rng(0))
    setting = Setting("spectrum", "none", 10.0, {"k": 2})
    spread = space.probe.look(space.kernel(setting)).spread
    assert 0.0 < spread < 1.0
    assert space.lam(setting, 40) == pytest.approx(spread / (10.0 * 40))
    assert space.machine(setting, 40).lam == space.lam(setting, 40)
