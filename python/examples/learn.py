"""Learns tasks by random search: python learn.py [pole,reach,walk] [updates] [picture.svg].

Prints the mean reward of all tries after every update, and that of the policy before and after. With a
name for a picture, and matplotlib, it draws the rewards.
"""

import sys
import time
from typing import Dict, List

from tenon.learn import Search, make

# Worlds, updates, length of an update, noise of the tries.
SETTINGS = {
    "pole": (16, 15, 0.2, 0.2),
    "reach": (32, 60, 0.1, 0.1),
    "walk": (32, 60, 0.02, 0.05),
}


def learn(name: str, updates: int) -> List[float]:
    """Mean rewards of the tries of each update."""
    worlds, count, step, noise = SETTINGS[name]
    search = Search(make(name, worlds), step=step, noise=noise)
    start = time.perf_counter()
    print(f"{name} before: {search.score():.1f}")
    for i in range(updates or count):
        reward = search.improve()
        print(f"update {i + 1}: {reward:.1f}, {time.perf_counter() - start:.1f} s", flush=True)
    print(f"{name} after: {search.score():.1f}")
    return search.rewards


def draw(curves: Dict[str, List[float]], picture: str) -> None:
    """A chart for each task."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "tenon"
    from matplotlib import pyplot

    figure, charts = pyplot.subplots(1, len(curves), figsize=(3.5 * len(curves), 3), squeeze=False)
    for axes, (name, rewards) in zip(charts[0], curves.items()):
        axes.plot(range(1, len(rewards) + 1), rewards)
        axes.set_title(name)
        axes.set_xlabel("update")
        axes.set_ylabel("mean reward of an episode")
    figure.tight_layout()
    figure.savefig(picture, metadata={"Date": None} if picture.endswith(".svg") else None)


def main(names: str = "pole", updates: str = "", picture: str = "") -> None:
    curves = {name: learn(name, int(updates or 0)) for name in names.split(",")}
    if picture:
        draw(curves, picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
