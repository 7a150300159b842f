"""Stage 2, grouped data: rows sorted by group, and what is known of each group's count of positives."""

from disaggregate.groups import evidence
from disaggregate.groups.grouped import GroupedData, group_rows
from disaggregate.groups.target import group_target, is_group_target

__all__ = ["GroupedData", "evidence", "group_rows", "group_target", "is_group_target"]
