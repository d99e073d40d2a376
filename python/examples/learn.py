"""Learns a task by random search: python learn.py [pole|reach|walk] [updates] [picture.png].

Prints the mean reward of all tries after every update, and that of the policy before and after. With a
name for a picture, and matplotlib, it draws the rewards.
"""

import sys
import time

from tenon.learn import Search, make

# Worlds, updates, length of an update, noise of the tries.
SETTINGS = {
    "pole": (16, 15, 0.2, 0.2),
    "reach": (32, 60, 0.1, 0.1),
    "walk": (32, 60, 0.02, 0.05),
}


def main(name: str = "pole", updates: str = "", picture: str = "") -> None:
    worlds, count, step, noise = SETTINGS[name]
    search = Search(make(name, worlds), step=step, noise=noise)
    start = time.perf_counter()
    print(f"before: {search.score():.1f}")
    for i in range(int(updates) if updates else count):
        print(f"update {i + 1}: {search.improve():.1f}, {time.perf_counter() - start:.1f} s")
    print(f"after: {search.score():.1f}")
    if picture:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(figsize=(6, 3.5))
        axes.plot(range(1, len(search.rewards) + 1), search.rewards)
        axes.set_xlabel("update")
        axes.set_ylabel("mean reward of an episode")
        axes.set_title(name)
        figure.tight_layout()
        figure.savefig(picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
