"""The bit-for-bit check of an engine against vector files (vector-format.md; spec 6)."""

from maxik.verify.check import CaseFailure, FileResult, VerifyReport, verify_files
from maxik.verify.report import render, to_json

__all__ = ["CaseFailure", "FileResult", "VerifyReport", "render", "to_json", "verify_files"]
