"""
Sensors with gaps
=================

A machine has three groups of sensors: vibration, temperature and current. Sensors fail for hours, single values are
lost, and once a whole group was switched off. We want the values in the gaps, with an honest statement of how sure they
are, and the states in which the machine was.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import jella

rng = np.random.default_rng(0)
n = 500
hours = pd.date_range("2026-01-01", periods=n, freq="h")

# the machine is idle, works, or is overloaded; load changes slowly
state = np.repeat(rng.choice(3, size=n // 20, p=[0.3, 0.5, 0.2]), 20)
load = np.convolve(np.array([0.0, 1.0, 2.5])[state], np.ones(3) / 3, mode="same")
wear = np.linspace(0, 1, n)
season = np.sin(2 * np.pi * np.arange(n) / 24)
hidden = np.stack([load, 0.5 * wear, 0.5 * season, load * wear], axis=1)


def group(n_sensors, noise):
    """Sensors that see the same hidden state, each in its own way."""
    return hidden @ rng.normal(size=(4, n_sensors)) + 20 + noise * rng.normal(size=(n, n_sensors))


true = {
    name: pd.DataFrame(group(d, noise), index=hours, columns=[f"{name}{j}" for j in range(d)])
    for name, d, noise in [("vibration", 12, 0.3), ("temperature", 8, 0.15), ("current", 6, 0.2)]
}

# %%
# Make gaps
# ---------
#
# Bursts of 12 hours in single sensors, and 40 hours without any vibration sensor.

given = {name: table.copy() for name, table in true.items()}
for table in given.values():
    for sensor in range(table.shape[1]):
        for start in rng.choice(n - 12, size=6, replace=False):
            table.iloc[start : start + 12, sensor] = np.nan
given["vibration"].iloc[300:340] = np.nan
print({name: f"{table.isna().to_numpy().mean():.0%} missing" for name, table in given.items()})

# %%
# Fill them, with intervals
# -------------------------
#
# ``jella.complete`` predicts each value in several ways, weighs them by how well they predict values that were hidden
# on purpose, and says what error to expect.

done = jella.complete(given, interval=0.9)
print(done)

# %%
# In this example the true values are known. Nine of ten lie within their interval if values are missing in the way in
# which jella hides values: in samples that are spread over all hours. A long gap of a whole group, in one state of the
# machine, is harder, and fewer of its values lie inside.

missing = given["vibration"].isna()
inside = (true["vibration"] >= done.lower["vibration"]) & (true["vibration"] <= done.upper["vibration"])
print(f"true values within the 90 % interval: {inside.to_numpy()[missing.to_numpy()].mean():.0%}")

sensor, part = "vibration3", slice(270, 370)
figure, axes = plt.subplots(figsize=(9, 3.2), layout="constrained")
low, high, middle = (X["vibration"][sensor].iloc[part] for X in (done.lower, done.upper, done.views))
axes.fill_between(middle.index, low, high, color="tab:blue", alpha=0.25, label="90 % interval")
axes.plot(true["vibration"][sensor].iloc[part], color="0.6", label="true")
axes.plot(given["vibration"][sensor].iloc[part], color="k", label="given")
axes.plot(middle.where(missing[sensor].iloc[part]), color="tab:blue", label="completed")
axes.set(title="A sensor, 40 hours of which are missing in its whole group", ylabel="vibration")
axes.legend(ncol=4, loc="upper left", fontsize=8)
figure.autofmt_xdate()

# %%
# jella does not know that rows follow each other in time: each hour is a sample. If a value can be predicted from the
# hours around it, add columns with earlier and later values as one more view. The errors say whether that helps. In
# this example it hardly does, since the other groups already say nearly everything.

lags = [given["current"].shift(k).add_suffix(f" {k:+d} h") for k in (-2, -1, 1, 2)]
with_time = {**given, "current around": pd.concat(lags, axis=1)}
around = jella.complete(with_time)
for name, result in {"each hour alone": done, "with two hours around": around}.items():
    print(f"{name}: error of current {result.error_by_view['current']:.2f} standard deviations")

# %%
# States of the machine
# ---------------------

found = jella.cluster(given, n_clusters=3)
print("agreement with the true states:", round(jella.metrics.nmi(state, found.labels), 2))
figure, axes = plt.subplots(figsize=(9, 1.8), layout="constrained")
axes.scatter(hours, load, c=found.labels, cmap="viridis", s=6)
axes.set(title="Load of the machine, coloured by cluster", ylabel="load")
