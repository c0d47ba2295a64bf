// the maps of the samples: which map, which colour, and labels on the clusters

const chooser = byId("colour-by");
const mapChooser = byId("map");
// for groups on paper and for colour-blind readers; 11 and 8 colours have no common divisor, so 88 pairs differ
const symbols = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "triangle-left", "triangle-right", "pentagon", "star"];
const selection = new Set();
let isLasso = false;

const shownMap = () => points.maps[mapChooser ? Number(mapChooser.value) : 0];
const shownColouring = () => points.colourings[chooser ? Number(chooser.value) : 0];
const clusterValues = points && clusters.ids.length ? points.colourings[0].values : null;
const isByCluster = (colouring) => Boolean(clusterValues) && colouring === points.colourings[0];

function word(colouring, i) {
  const value = colouring.values[i];
  if (isByCluster(colouring)) return nameOf(value);
  if (colouring.levels) return colouring.levels[value];
  return value === null ? "not known" : String(value);
}

function hoverText(i) {
  const lines = points.colourings.map((c) => `${escaped(short(c.name, 40))}: ${escaped(short(word(c, i), 60))}`);
  return [`<b>${escaped(short(points.names[i], 60))}</b>`, ...lines].join("<br>");
}

function pointTrace(map, at, name, marker) {
  const rows = at.map((j) => map.rows[j]);
  const picked = at.map((_, j) => j).filter((j) => selection.has(rows[j]));
  const size = map.rows.length > 3000 ? 5 : map.rows.length > 1000 ? 6 : map.rows.length > 300 ? 7 : 9;
  return {
    type: "scatter",
    mode: "markers",
    name: escaped(name),
    x: at.map((j) => map.x[j]),
    y: at.map((j) => map.y[j]),
    customdata: rows,
    text: rows.map(hoverText),
    hovertemplate: "%{text}<extra></extra>",
    selectedpoints: selection.size ? picked : null,
    unselected: { marker: { opacity: 0.15 } },
    marker: { size, ...marker, opacity: rows.map((i) => (clusterValues && isFaded(clusterValues[i]) ? 0.12 : 0.85)) },
  };
}

function tracesBy(map, colouring) {
  const { card } = colours();
  const every = map.rows.map((_, j) => j);
  if (!colouring) return [pointTrace(map, every, "samples", {})];
  if (!colouring.levels) {
    const known = every.filter((j) => colouring.values[map.rows[j]] !== null);
    const bar = { title: { text: escaped(short(colouring.name, 16)), side: "top" }, thickness: 12, outlinewidth: 0 };
    const scale = root.dataset.theme === "dark" ? "Viridis" : "Cividis";
    const color = known.map((j) => colouring.values[map.rows[j]]);
    const numbers = pointTrace(map, known, colouring.name, { color, colorscale: scale, colorbar: bar, showscale: true });
    const unknown = every.filter((j) => colouring.values[map.rows[j]] === null);
    return unknown.length ? [pointTrace(map, unknown, "not known", { color: "#888888", symbol: "circle-open" }), numbers] : [numbers];
  }
  const codeOf = (j) => colouring.values[map.rows[j]];
  const looks = colouring.levels.map((_, code) => lookOf(colouring, code));
  const mixed = every.sort((a, b) => mixedPlace(map.rows[a]) - mixedPlace(map.rows[b]));
  const each = (what) => mixed.map((j) => looks[codeOf(j)][what]);
  const edge = root.dataset.theme === "dark" ? card : "rgba(0,0,0,0.4)";
  const marker = { color: each("color"), symbol: each("symbol"), line: { width: each("edge"), color: edge } };
  const drawn = new Set(mixed.map(codeOf));
  const legend = isByCluster(colouring) ? [] : colouring.levels.flatMap((level, code) => (drawn.has(code) ? [legendTrace(level, code, looks[code])] : []));
  return [{ ...pointTrace(map, mixed, colouring.name, marker), showlegend: false }, ...legend];
}

// groups are drawn in one mixed order: the last of them would hide the others
const mixedPlace = (i) => Math.imul(i + 1, 2654435761) >>> 0;

function lookOf(colouring, code) {
  const symbol = symbols[code % symbols.length];
  if (isByCluster(colouring) && code < clusters.ids.length) return { color: colourOf(code), symbol, edge: 0.5 };
  const isRest = ["not known", "other"].includes(colouring.levels[code]);
  if (isRest) return { color: "#888888", symbol: "circle-open", edge: 1 };
  return { color: eight[root.dataset.theme][code % 8], symbol, edge: 0.5 };
}

function legendTrace(level, code, { color, symbol }) {
  const most = Math.max(24, Math.floor(byId("plot-embedding").clientWidth / 8) - 14); // a name that fits on a line
  const nowhere = { x: [null], y: [null], hoverinfo: "skip" };
  return { type: "scatter", mode: "markers", name: escaped(short(level, most)), meta: { code }, marker: { color, symbol }, ...nowhere };
}

// labels, the largest clusters first, moved a little or left out where they would lie on others
function apart(labels, map, width, height) {
  const span = (values) => values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
  const [xs, ys] = [span(map.x), span(map.y)];
  const across = (v, [low, high], pixels) => ((v - low) / (high - low || 1)) * pixels * 0.9;
  const kept = [];
  for (const label of labels) {
    const size = label.font.size;
    const half = [(label.text.length - 7) * size * 0.34 + 5, size * 0.7 + 5]; // seven letters are tags
    const at = [across(label.x, xs, width), across(label.y, ys, height)];
    const [w, h] = [2 * half[0], 2 * half[1]];
    const free = [[0, 0], [0, h], [0, -h], [w, 0], [-w, 0]].find(([dx, dy]) => kept.every((other) =>
      Math.abs(at[0] + dx - other.at[0]) >= half[0] + other.half[0] || Math.abs(at[1] + dy - other.at[1]) >= half[1] + other.half[1]));
    const above = half[1] + 6; // else a label hides its sample
    if (free) kept.push({ label: { ...label, xshift: free[0], yshift: free[1] + above }, half, at: [at[0] + free[0], at[1] + free[1]] });
  }
  return kept.map((one) => one.label);
}

// the name of each cluster at its sample that is closest to the middle of the others
function clusterLabels(map) {
  const { card, ink } = colours();
  const median = (values) => values.slice().sort((a, b) => a - b)[Math.floor(values.length / 2)];
  return clusters.ids.flatMap((_, i) => {
    const at = map.rows.map((_, j) => j).filter((j) => clusterValues[map.rows[j]] === i);
    if (!at.length || (chosen !== null && i !== chosen)) return [];
    const x = median(at.map((j) => map.x[j]));
    const y = median(at.map((j) => map.y[j]));
    const far = (j) => (map.x[j] - x) ** 2 + (map.y[j] - y) ** 2;
    const best = at.reduce((one, other) => (far(other) < far(one) ? other : one));
    const text = `<b>${escaped(tickOf(i))}</b>`;
    const border = { bordercolor: colourOf(i), borderwidth: 1.5, borderpad: 2, bgcolor: card, opacity: 0.9 };
    const size = clusters.ids.length > 20 ? 10 : 12;
    return [{ x: map.x[best], y: map.y[best], text, showarrow: false, font: { size, color: ink }, ...border }];
  });
}

function drawMap() {
  const place = byId("plot-embedding");
  if (!points || !place) return null;
  const map = shownMap();
  const colouring = shownColouring();
  const own = isByCluster(colouring);
  const traces = tracesBy(map, colouring);
  const named = Boolean(colouring && colouring.levels) && !own;
  // room for the legend, which goes below the plot, in columns as wide as the longest name
  const entries = traces.slice(1);
  const entrywidth = 8 * Math.max(0, ...entries.map((one) => one.name.length)) + 8;
  const columns = Math.max(1, Math.floor((place.clientWidth - 60) / (entrywidth + 40)));
  const lines = named ? 1 + Math.ceil(entries.length / columns) : 0;
  const bare = map.name === "PCA" ? {} : { showticklabels: false, showgrid: false };
  const legend = { orientation: "h", yanchor: "top", y: -0.14, x: 0, itemsizing: "constant" };
  const height = Math.min(560, Math.max(360, place.clientWidth * 0.75));
  const top = colouring && !colouring.levels ? 36 : 10; // the title of a scale is below the buttons
  const layout = {
    height: height + 24 * lines + top,
    margin: { l: 10, r: 10, t: top, b: 10 },
    hovermode: "closest",
    dragmode: isLasso ? "lasso" : false,
    showlegend: named,
    legend: { ...legend, entrywidth, title: { text: named ? escaped(short(colouring.name)) : "", side: "top" } },
    xaxis: { title: { text: map.axes[0] }, automargin: true, zeroline: false, ...bare },
    yaxis: { title: { text: map.axes[1] }, automargin: true, zeroline: false, ...bare },
    annotations: own ? apart(clusterLabels(map), map, place.clientWidth - 60, height - 60) : [],
    selections: [],
  };
  const tools = [["zoomIn2d", "zoomOut2d", "pan2d", "resetScale2d", "toImage"]];
  return Plotly.react(place, traces, themed(layout), { ...config, displayModeBar: true, modeBarButtons: tools });
}

if (chooser) chooser.addEventListener("change", () => { listGroups(); drawMap(); });
if (mapChooser) mapChooser.addEventListener("change", () => { say(`Map: ${shownMap().name}`); drawMap(); });
watchers.push(drawMap);
