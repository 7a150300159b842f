"""Folders of Parquet files, under the name that they had before ``disaggregate.analysis``."""

from disaggregate.analysis.folders import fit_folder, predict_folder

__all__ = ["fit_folder", "predict_folder"]
