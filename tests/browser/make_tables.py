"""Write the two tables of the report under test: long names, gaps and numbers of several lengths are in them.

Run ``python make_tables.py FOLDER``.
"""

import sys
from pathlib import Path

import disaggregate as dg


def main(folder: Path) -> None:
    """Write people.csv and results.csv."""
    town = dg.datasets.make_population(360, n_groups=14, random_state=0)
    people = town.X.assign(district=[f"district {group}" for group in town.groups])
    people["weight"] = 0.5 + town.groups % 5
    people.loc[people.index % 40 == 0, "sex"] = None
    people["commute"] = ["by bus, tram or underground, with a change on the way", "on foot"] * 180
    people.to_csv(folder / "people.csv", index=False)
    results = town.shares.reset_index(name="share").rename(columns={"group": "district"})
    results["district"] = "district " + results["district"].astype(str)
    results.query("district != 'district 3'").to_csv(folder / "results.csv", index=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
