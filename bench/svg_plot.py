"""Curves on logarithmic axes as SVG text, without a plotting library."""
import math

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 480, 360, 66, 14, 30, 48


class Axis:
    """Logarithmic, from a to b onto pixels p to q."""

    def __init__(self, values, p, q):
        self.low, self.high = math.log10(min(values)) - 0.06, math.log10(max(values)) + 0.06
        self.p, self.q = p, q

    def __call__(self, value):
        return self.p + (math.log10(value) - self.low) / (self.high - self.low) * (self.q - self.p)

    def ticks(self):
        few = self.high - self.low < 2.5
        return [m * 10.0**e for e in range(math.floor(self.low), math.ceil(self.high) + 1)
                for m in ((1, 2, 5) if few else (1,)) if self.low <= math.log10(m * 10.0**e) <= self.high]


def number(value):
    exponent = round(math.log10(value))
    return f"{value:g}" if 1e-3 <= value < 1e5 else f"{value / 10.0**exponent:g}e{exponent}"


def text(x, y, content, anchor="middle", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{content}</text>'


def panel(left, title, x_name, y_name, curves):
    """curves: {name: ([(x, y)], [(x, y)])}, points and a dotted line to compare them with."""
    points = [point for curve, _ in curves.values() for point in curve]
    x = Axis([p[0] for p in points], left + LEFT, left + WIDTH - RIGHT)
    y = Axis([p[1] for p in points], HEIGHT - BOTTOM, TOP)
    parts = [f'<rect x="{x.p}" y="{TOP}" width="{x.q - x.p}" height="{y.p - y.q}" fill="none" stroke="black"/>']
    for tick in x.ticks():
        parts.append(f'<path d="M{x(tick):.1f} {TOP}V{y.p}" stroke="#ddd"/>')
        parts.append(text(x(tick), y.p + 16, number(tick)))
    for tick in y.ticks():
        parts.append(f'<path d="M{x.p} {y(tick):.1f}H{x.q}" stroke="#ddd"/>')
        parts.append(text(x.p - 6, y(tick) + 4, number(tick), "end"))
    for i, (name, (curve, line)) in enumerate(curves.items()):
        color = COLORS[i % len(COLORS)]
        path = "L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in line)
        parts.append(f'<path d="M{path}" stroke="{color}" fill="none" stroke-dasharray="2 3"/>')
        parts += [f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="3" fill="{color}"/>' for a, b in curve]
        # In the corner that the curves leave free.
        falls = curve[0][1] > curve[-1][1]
        parts.append(text(x.p + 12, (y.p - 12 - 16 * (len(curves) - 1 - i)) if falls else TOP + 18 + 16 * i, name, "start",
                          f' fill="{color}"'))
    parts.append(text((x.p + x.q) / 2, HEIGHT - 10, x_name))
    middle = (TOP + y.p) / 2
    parts.append(text(left + 16, middle, y_name, extra=f' transform="rotate(-90 {left + 16} {middle})"'))
    parts.append(text((x.p + x.q) / 2, TOP - 10, title, extra=' font-weight="bold"'))
    return "\n".join(parts)


def write(path, panels):
    """panels: (title, x name, y name, curves) side by side."""
    width = WIDTH * len(panels)
    body = "\n".join(panel(WIDTH * i, *one) for i, one in enumerate(panels))
    with open(path, "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" '
                   f'viewBox="0 0 {width} {HEIGHT}" font-family="sans-serif" font-size="12">\n'
                   f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n')
