"""Limits: sizes in words, what a file may declare, and what memory is left."""

from __future__ import annotations

import pytest

import jella
from jella.numerics import limits
from jella.numerics.limits import Limits, as_bytes, check_unpacked, limits_as


@pytest.mark.parametrize("text", ["", "GiB", "-1", "4 apples", "1e9", -5, 0])
def test_a_size_that_is_none_is_refused_in_a_sentence(text):
    with pytest.raises(ValueError, match="expected a size in bytes"):
        as_bytes(text)


def test_a_small_file_may_declare_little_and_a_large_one_a_hundred_times_its_size():
    with limits_as(Limits(unpacked=1000)):
        check_unpacked(1000, 10, "it")
        check_unpacked(1100, 11, "it")
        with pytest.raises(ValueError, match=r"raise the limit with --max-unpacked"):
            check_unpacked(1101, 11, "it")
    with limits_as(Limits(unpacked=None)):
        check_unpacked(1e30, 1, "it")


def test_limits_that_are_not_named_stay():
    before = jella.get_limits()
    try:
        jella.set_limits(memory=None)
        jella.set_limits(unpacked="2 GiB")
        assert jella.get_limits() == Limits(None, 2**31)
    finally:
        with limits_as(before):
            pass
        jella.set_limits(memory="available", unpacked=before.unpacked)
    assert jella.get_limits() == before


def test_the_limit_of_a_container_counts(tmp_path, monkeypatch):
    (tmp_path / "max").write_text("5000\n")
    (tmp_path / "current").write_text("2000\n")
    monkeypatch.setattr(limits, "_CGROUPS", ((str(tmp_path), "max", "current"),))
    assert limits.available_memory() == 3000
    (tmp_path / "max").write_text("max\n")
    found = limits.available_memory()
    assert found is None or found > 3000
