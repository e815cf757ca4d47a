"""Builds the kernel extension; everything else stands in pyproject.toml."""

from setuptools import setup

setup(cffi_modules=["src/maxik/kernel/build_kernel.py:ffibuilder"])
