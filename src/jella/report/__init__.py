"""A report on a fitted model in one HTML file: what it found, how far to trust it, and how to repeat it."""

from jella.report.data import ReportData
from jella.report.page import write_report

__all__ = ["ReportData", "write_report"]
