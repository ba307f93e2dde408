"""Where the secret comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from pillion.actors.transport.errors import SecretError
from pillion.actors.transport.secret import SECRET_VARIABLE, Secret, read_secret

TEXT = "a secret that is long enough"


def test_a_file_goes_before_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(f"  {TEXT}\n", encoding="utf-8")
    assert read_secret(file, {SECRET_VARIABLE: "another secret of the environment"}).value == TEXT.encode()


def test_the_environment() -> None:
    assert read_secret(None, {SECRET_VARIABLE: f"{TEXT}\n"}).value == TEXT.encode()


def test_there_is_none() -> None:
    with pytest.raises(SecretError, match=f"there is no secret: name a file that holds it, or set {SECRET_VARIABLE}"):
        read_secret(None, {})


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SecretError, match=r"missing cannot be read: No such file"):
        read_secret(tmp_path / "missing")


def test_a_short_one_is_refused_without_showing_it() -> None:
    with pytest.raises(SecretError, match="the secret has 7 bytes, and 16 are the least") as refused:
        Secret(b"letmein")
    assert "letmein" not in str(refused.value)
