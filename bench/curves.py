"""Curves as an SVG, small panels side by side, each from zero to its own maximum: a flat cost is a flat line."""

from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 260, 130
COLUMNS = 3
LEFT, TOP, BELOW = 46, 26, 26
STYLE = (
    "text{font:11px system-ui,sans-serif;fill:#57606a}.t{font-size:12px;fill:#57606a;font-weight:600}"
    "path{fill:none;stroke:#2f6f9f;stroke-width:2}circle{fill:#2f6f9f}line{stroke:#d0d7de}"
)


def svg(title: str, across: str, x: Sequence[float], panels: Mapping[str, Sequence[float]]) -> str:
    """Return the picture: a panel for each of `panels`, over the same `x`."""
    rows = -(-len(panels) // COLUMNS)
    width, height = COLUMNS * (WIDTH + LEFT), rows * (HEIGHT + TOP + BELOW) + TOP
    drawn = []
    for number, (name, y) in enumerate(panels.items()):
        column, row = number % COLUMNS, number // COLUMNS
        left, top = column * (WIDTH + LEFT), TOP + row * (HEIGHT + TOP + BELOW)
        drawn.append(f'<g transform="translate({left} {top})">{_panel(name, across, x, y)}</g>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">'
    named = f"<title>{escape(title)}</title><style>{STYLE}</style>"
    return "\n".join([head, named, f'<text x="0" y="14">{escape(title)}</text>', *drawn, "</svg>\n"])


def _panel(name: str, across: str, x: Sequence[float], y: Sequence[float]) -> str:
    most, furthest = max(y) * 1.15, max(x)
    places = [
        (LEFT + at / furthest * (WIDTH - LEFT), TOP + HEIGHT - value / most * HEIGHT)
        for at, value in zip(x, y, strict=True)
    ]
    path = "M" + "L".join(f"{right:.1f} {down:.1f}" for right, down in places)
    floor = TOP + HEIGHT
    return "".join(
        [
            f'<text class="t" x="{LEFT}" y="{TOP - 8}">{escape(name)}</text>',
            f'<line x1="{LEFT}" y1="{floor}" x2="{WIDTH}" y2="{floor}"/>',
            f'<line x1="{LEFT}" y1="{TOP}" x2="{LEFT}" y2="{floor}"/>',
            f'<text x="{LEFT - 6}" y="{TOP + 10}" text-anchor="end">{most:,.0f}</text>',
            f'<text x="{LEFT - 6}" y="{floor}" text-anchor="end">0</text>',
            f'<text x="{WIDTH}" y="{floor + 14}" text-anchor="end">{furthest:,.0f} {escape(across)}</text>',
            f'<path d="{path}"/>',
            *(f'<circle cx="{right:.1f}" cy="{down:.1f}" r="2.5"/>' for right, down in places),
        ]
    )
