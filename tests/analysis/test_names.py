"""The names under which parts of the analysis are public."""

import disaggregate as dg
import disaggregate.analysis
import disaggregate.folder_analysis
import disaggregate.privacy


def test_short_and_former_names_lead_to_the_same():
    assert dg.fit_tables is dg.analysis.fit_tables
    assert dg.load is dg.analysis.load
    assert dg.Analysis is dg.analysis.Analysis
    assert dg.privacy.landmarks is dg.analysis.privacy.landmarks
    assert dg.folder_analysis.fit_folder is dg.analysis.fit_folder
    assert dg.folder_analysis.predict_folder is dg.analysis.predict_folder
