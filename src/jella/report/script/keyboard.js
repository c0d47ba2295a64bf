// plots from the keyboard: arrow keys go from point to point, Enter highlights the cluster of a point

const cursors = new Map();

// every point of a plot, as Plotly numbers them; samples in their order
function pointsOf(place) {
  const sample = ({ curve, point }) => (place.data[curve].customdata || [])[point];
  const every = (place._fullData || []).flatMap((trace, curve) => {
    if (trace.visible !== true || trace.hoverinfo === "skip") return [];
    if (trace.type === "heatmap") return trace.z.flatMap((row, r) => [...row].map((_, c) => ({ curve, point: [r, c] })));
    return Array.from({ length: (trace.x || []).length }, (_, point) => ({ curve, point }));
  });
  return place.id === "plot-embedding" ? every.sort((a, b) => sample(a) - sample(b)) : every;
}

function move(place, step) {
  const every = pointsOf(place);
  if (!every.length) return;
  const before = cursors.get(place.id);
  const at = before === undefined ? (step > 0 ? 0 : every.length - 1) : (before + step + every.length) % every.length;
  cursors.set(place.id, at);
  Plotly.Fx.hover(place, [{ curveNumber: every[at].curve, pointNumber: every[at].point }]);
  const shown = [...place.querySelectorAll(".hovertext")].map((text) => text.textContent).join("; ");
  say(shown);
}

function pick(place) {
  const at = cursors.get(place.id);
  const one = at === undefined ? null : pointsOf(place)[at];
  if (!one) return;
  const data = place.data[one.curve];
  const row = data.customdata && data.customdata[one.point];
  const i = place.id === "plot-embedding" ? clusterValues && clusterValues[row] : clusterAt({ data, pointNumber: one.point });
  if (i !== null && i !== undefined) choose(i);
}

function startKeyboard() {
  document.querySelectorAll("div.plot").forEach((place) => {
    place.addEventListener("keydown", (event) => {
      const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
      if (event.key in steps) move(place, steps[event.key]);
      else if (event.key === "Enter" || event.key === " ") pick(place);
      else return;
      event.preventDefault();
    });
    place.addEventListener("blur", () => Plotly.Fx.unhover(place));
  });
}
