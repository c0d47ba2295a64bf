// the plots that came with the page: clusters get their colours and names, the highlighted one stands out

// every one of many ticks would be on top of the next one on a phone
const tickStep = (count, width, each = 13) => Math.max(1, Math.ceil((each * count) / Math.max(width - 60, 100)));

function dressed(figure, width) {
  const { data, layout } = copy(figure);
  const meta = layout.meta || {};
  const { ink } = colours();
  for (const trace of data) {
    if (trace.meta === "ink") {
      trace.marker = { ...trace.marker, color: ink };
      trace.line = { ...trace.line, color: ink };
    }
    if (trace.meta === "ink bars") trace.error_y = { ...trace.error_y, color: ink };
    const own = trace.meta && trace.meta.cluster; // a line of one cluster
    if (own !== undefined) {
      trace.line = { ...trace.line, color: colourOf(own) };
      trace.opacity = isFaded(own) ? 0.2 : 1;
      trace.name = escaped(short(nameOf(own))) + trace.meta.after;
    }
    const members = trace.meta && trace.meta.clusters;
    if (members) {
      trace.marker = {
        ...trace.marker,
        color: members.map(colourOf),
        opacity: members.map((i) => (isFaded(i) ? 0.2 : 1)),
      };
    }
  }
  for (const [axis, which] of Object.entries(meta.ticks || {})) {
    // beside a square is its scale; the numbers below it are not turned
    const step = meta.square ? tickStep(which.length, width - 120, 18) : axis === "xaxis" ? tickStep(which.length, width) : 1;
    const shown = which.filter((i, place) => place % step === 0 || i === chosen);
    layout[axis].tickvals = shown.map((i) => layout[axis].tickvals[which.indexOf(i)]);
    layout[axis].ticktext = shown.map((i) => (i === chosen ? `<b>${escaped(tickOf(i))}</b>` : escaped(tickOf(i))));
  }
  if (meta.blocks && chosen !== null) {
    const [x0, x1, y0, y1] = meta.blocks[chosen];
    const line = { width: 3, color: colourOf(chosen) };
    layout.shapes = [...(layout.shapes || []), { type: "rect", x0, x1, y0, y1, line }];
  }
  return { data, layout: themed(layout) };
}

function drawFigure(id) {
  const place = byId(id);
  const { data, layout } = dressed(figures[id], place.clientWidth);
  if (place.closest(".square")) layout.height = Math.min(layout.height, place.clientWidth);
  return Plotly.react(place, data, layout, config);
}

// which cluster a point of a plot stands for; null if none
function clusterAt(point) {
  const meta = point.data.meta;
  if (meta && meta.cluster !== undefined) return meta.cluster;
  if (meta && meta.clusters) return meta.clusters[point.pointNumber];
  if (meta && meta.rows) return meta.rows[point.pointNumber[0]];
  return null;
}

const hasClusters = (id) => {
  const { data, layout } = figures[id];
  return Boolean(layout.meta && (layout.meta.ticks || layout.meta.blocks)) || data.some((t) => t.meta && (t.meta.clusters || t.meta.cluster !== undefined));
};

function listenTo(id) {
  byId(id).on("plotly_click", (event) => {
    const i = clusterAt(event.points[0]);
    if (i !== null) choose(i);
  });
}

watchers.push(() => Object.keys(figures).filter(hasClusters).forEach(drawFigure));
