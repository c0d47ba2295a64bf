"""A report of a fitted model: what it found, how far to trust it, and how to do it again, in one HTML file."""

from jella.report.data import ReportData
from jella.report.page import write_report

__all__ = ["ReportData", "write_report"]
