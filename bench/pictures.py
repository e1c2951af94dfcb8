"""Curves on logarithmic axes, for pictures in the documentation."""
import matplotlib
import matplotlib.pyplot as plt

# Texts stay texts, and the same curves give the same file.
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "zonal"})


def write(path, panels):
    """panels: (title, x name, y name, {name: ([(x, y)], [(x, y)])}) side by side: points, and a dotted line to compare them with."""
    figure, axes = plt.subplots(1, len(panels), figsize=(4.8 * len(panels), 3.6), layout="constrained", squeeze=False)
    for axis, (title, x_name, y_name, curves) in zip(axes[0], panels):
        for name, (points, line) in curves.items():
            color = axis.loglog(*zip(*points), "o", markersize=4, label=name)[0].get_color()
            axis.loglog(*zip(*line), ":", color=color)
        axis.set(title=title, xlabel=x_name, ylabel=y_name)
        axis.grid(alpha=0.3)
        axis.legend()
    figure.savefig(path, metadata={"Date": None})
