"""Tasks: the interface of vector environments, and that the learner improves on each."""

import inspect
import os

import numpy as np
import pytest

from tenon import learn

LONG = bool(os.environ.get("TENON_LONG"))

# What gymnasium 1.0 asks of a vector environment.
ATTRIBUTES = ["num_envs", "observation_space", "action_space", "single_observation_space",
              "single_action_space", "metadata", "render_mode", "spec", "closed"]


@pytest.mark.parametrize("name", list(learn.TASKS))
def test_interface(name):
    env = learn.make(name, 3)
    for attribute in ATTRIBUTES:
        assert hasattr(env, attribute)
    assert list(inspect.signature(env.reset).parameters) == ["seed", "options"]
    assert all(p.kind == p.KEYWORD_ONLY for p in inspect.signature(env.reset).parameters.values())
    observations, info = env.reset(seed=3)
    assert observations.shape == env.observation_space.shape == (3, *env.single_observation_space.shape)
    assert observations.dtype == np.float32 and isinstance(info, dict)
    again, _ = env.reset(seed=3)
    assert np.array_equal(observations, again) and not np.array_equal(env.reset()[0], again)
    actions = np.zeros(env.action_space.shape)
    observations, rewards, terminated, truncated, info = env.step(actions)
    assert observations.shape == env.observation_space.shape
    assert rewards.shape == terminated.shape == truncated.shape == (3,)
    assert terminated.dtype == truncated.dtype == bool
    with pytest.raises(ValueError):
        env.step(np.zeros((3, 99)))
    with pytest.raises(ValueError):
        env.step(np.full(env.action_space.shape, np.nan))
    mask = np.array([True, False, True])
    before = env.batch.hash
    observations, _ = env.reset(options={"reset_mask": mask})
    assert np.array_equal(env.batch.hash == before, ~mask) and observations.shape == env.observation_space.shape
    for bad in ([1, 0, 1], [True], "all"):
        with pytest.raises(ValueError, match="reset_mask"):
            env.reset(options={"reset_mask": bad})
    env.close()
    assert env.closed


def test_episodes_end_and_start_anew():
    env = learn.make("pole", 4)
    env.reset(seed=0)
    ends = 0
    for i in range(120):
        seen, _, terminated, truncated, info = env.step(np.ones((4, 1)))
        ended = terminated | truncated
        ends += ended.sum()
        if ended.any():
            assert np.array_equal(info["_final_obs"], ended)
            assert (np.abs(seen[ended]) < 0.2).all()  # a new start
            assert (np.abs(info["final_obs"][ended, 1]) > 0.5).any() or (np.abs(info["final_obs"][ended, 0]) > 1.9).any()
    assert ends >= 4
    env.steps = 5
    env.reset(seed=0)
    for i in range(5):
        _, _, terminated, truncated, _ = env.step(np.zeros((4, 1)))
    assert truncated.all() and not terminated.any()


def test_the_same_seeds_learn_the_same():
    runs = []
    for _ in range(2):
        search = learn.Search(learn.make("pole", 4), seed=5)
        for _ in range(2):
            search.improve()
        runs.append(search.weights)
    assert np.array_equal(*runs)


# Task, worlds, updates, settings, seeds, and how much more reward the learnt policies have on average. Updates
# have to be short against the noise of the tries; how far "walk" comes in ten still depends on luck: its first
# four seeds gain 2, 30, 10 and 35.
LEARNS = [
    ("pole", 16, 12, dict(step=0.2, noise=0.2), 1, 60.0),
    ("reach", 16, 30 if LONG else 20, dict(step=0.1, noise=0.1), 1, 8.0),
    ("walk", 16, 40 if LONG else 10, dict(step=0.02, noise=0.05), 3, 20.0 if LONG else 4.0),
]


@pytest.mark.parametrize("name, worlds, updates, settings, seeds, more", LEARNS, ids=[c[0] for c in LEARNS])
def test_learns(name, worlds, updates, settings, seeds, more):
    gains = []
    for seed in range(seeds):
        search = learn.Search(learn.make(name, worlds), seed=seed, **settings)
        before = search.score()
        for _ in range(updates):
            search.improve()
        gains.append(search.score() - before)
    assert np.mean(gains) > more, gains
