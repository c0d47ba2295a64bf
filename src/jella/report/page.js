(() => {
  "use strict";
  const root = document.documentElement;
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const figures = read("figures");
  const points = read("points");
  const chooser = document.getElementById("colour-by");
  const button = document.getElementById("theme");
  const config = { responsive: true, displaylogo: false, displayModeBar: false };
  const tools = [["zoomIn2d", "zoomOut2d", "pan2d", "resetScale2d", "toImage"]];
  // Okabe and Ito, told apart by colour-blind readers too, and the same lighter; the eighth is the colour of the text
  const palettes = {
    light: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442"],
    dark: ["#56B4E9", "#E69F00", "#2BC59A", "#E79AC7", "#F0E442", "#F0874A", "#8FA8FF"],
  };
  const symbols = ["circle", "diamond", "square", "triangle-up", "cross", "star", "x", "triangle-down", "pentagon", "hexagram"];
  const scales = {
    light: [[0, "#eceff2"], [0.5, "#5b9bd0"], [1, "#08306b"]],
    dark: [[0, "#2c343e"], [0.5, "#2f78b3"], [1, "#9ad0ff"]],
  };

  function merged(base, more) {
    const out = { ...base };
    for (const [key, value] of Object.entries(more)) {
      const both = value && typeof value === "object" && !Array.isArray(value) && out[key];
      out[key] = both ? merged(out[key], value) : value;
    }
    return out;
  }

  function colours() {
    const style = getComputedStyle(root);
    const names = ["ink", "line", "card", "quiet", "accent"];
    return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  }

  function themed(layout) {
    const { ink, line, card, quiet, accent } = colours();
    const scale = scales[root.dataset.theme];
    const own = {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: ink, family: getComputedStyle(document.body).fontFamily, size: 13 },
      colorway: [...palettes[root.dataset.theme], ink],
      colorscale: { sequential: scale, sequentialminus: scale },
      hoverlabel: { bgcolor: card, bordercolor: line, font: { color: ink }, align: "left" },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: quiet, activecolor: accent },
      dragmode: false,
    };
    const out = merged(layout, own);
    for (const axis of ["xaxis", "yaxis"]) {
      out[axis] = merged({ gridcolor: line, linecolor: line, zerolinecolor: line }, out[axis] || {});
    }
    for (const shape of out.shapes || []) shape.line = { ...shape.line, color: ink };
    return out;
  }

  const copy = (value) => JSON.parse(JSON.stringify(value));

  function word(colouring, i) {
    const value = colouring.values[i];
    if (colouring.levels) return colouring.levels[value];
    return value === null ? "not known" : String(value);
  }

  function hoverTexts() {
    return points.names.map((name, i) =>
      [`<b>${name}</b>`, ...points.colourings.map((colouring) => `${colouring.name}: ${word(colouring, i)}`)].join("<br>"),
    );
  }

  function trace(rows, name, marker) {
    return {
      type: "scatter",
      mode: "markers",
      name,
      x: rows.map((i) => points.x[i]),
      y: rows.map((i) => points.y[i]),
      text: rows.map((i) => points.hover[i]),
      hovertemplate: "%{text}<extra></extra>",
      marker: { size: points.x.length > 1000 ? 5 : 7, opacity: 0.85, ...marker },
    };
  }

  function tracesBy(colouring) {
    const { ink, card } = colours();
    const every = points.names.map((_, i) => i);
    if (!colouring) return [trace(every, "samples", {})];
    if (!colouring.levels) {
      const known = every.filter((i) => colouring.values[i] !== null);
      const values = known.map((i) => colouring.values[i]);
      const bar = { title: { text: colouring.name, side: "right" }, thickness: 12, outlinewidth: 0 };
      const scale = root.dataset.theme === "dark" ? "Viridis" : "Cividis";
      const shown = [trace(known, colouring.name, { color: values, colorscale: scale, colorbar: bar, showscale: true })];
      const unknown = every.filter((i) => colouring.values[i] === null);
      if (unknown.length) shown.push(trace(unknown, "not known", { color: "#888888", symbol: "circle-open" }));
      return shown;
    }
    const eight = [...palettes[root.dataset.theme], ink];
    const edge = root.dataset.theme === "dark" ? card : "rgba(0,0,0,0.45)";
    return colouring.levels.flatMap((level, code) => {
      const rows = every.filter((i) => colouring.values[i] === code);
      const last = code === colouring.levels.length - 1 && (level === "not known" || level === "other");
      const marker = last
        ? { color: "#888888", symbol: "circle-open" }
        : { color: eight[code % 8], symbol: symbols[Math.floor(code / 8) % symbols.length], line: { width: 0.5, color: edge } };
      return rows.length ? [trace(rows, level, marker)] : [];
    });
  }

  function drawEmbedding() {
    const place = document.getElementById("plot-embedding");
    if (!points || !place) return null;
    points.hover = points.hover || hoverTexts();
    const colouring = points.colourings[chooser ? Number(chooser.value) : 0];
    const traces = tracesBy(colouring);
    const named = Boolean(colouring && colouring.levels);
    // room for the legend, which goes below the plot and takes as many lines as the names need
    const letters = traces.reduce((sum, one) => sum + String(one.name).length + 7, 0);
    const lines = named ? Math.ceil((letters * 8) / Math.max(place.clientWidth, 280)) : 0;
    const layout = {
      height: 500 + 22 * lines,
      margin: { l: 10, r: 10, t: 20, b: 10 },
      hovermode: "closest",
      showlegend: named,
      legend: { orientation: "h", yanchor: "top", y: -0.18, x: 0, itemsizing: "constant", title: { text: named ? colouring.name : "" } },
      xaxis: { title: { text: points.axes[0] }, automargin: true, zeroline: false },
      yaxis: { title: { text: points.axes[1] }, automargin: true, zeroline: false },
    };
    return Plotly.react(place, traces, themed(layout), { ...config, displayModeBar: true, modeBarButtons: tools });
  }

  function drawAll() {
    const drawn = Object.entries(figures).map(([id, figure]) => {
      const place = document.getElementById(id);
      const layout = themed(copy(figure.layout));
      if (place.closest(".square")) layout.height = Math.min(layout.height, place.clientWidth);
      return Plotly.react(place, copy(figure.data), layout, config);
    });
    return Promise.all([...drawn, drawEmbedding()]);
  }

  function setTheme(theme) {
    root.dataset.theme = theme;
    button.textContent = theme === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", theme === "dark" ? "Use the light theme" : "Use the dark theme");
    return drawAll();
  }

  button.addEventListener("click", () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => setTheme(event.matches ? "dark" : "light"));
  if (chooser) chooser.addEventListener("change", drawEmbedding);

  const plots = () => [...document.querySelectorAll(".js-plotly-plot")];
  let before = null;
  addEventListener("beforeprint", () => {
    before = { theme: root.dataset.theme, closed: [...document.querySelectorAll("details:not([open])")] };
    before.closed.forEach((details) => { details.open = true; });
    if (before.theme === "dark") setTheme("light");
    plots().forEach((place) => Plotly.relayout(place, { width: place.closest(".many, .pair") ? 320 : 660 }));
  });
  addEventListener("afterprint", () => {
    before.closed.forEach((details) => { details.open = false; });
    setTheme(before.theme);
    plots().forEach((place) => Plotly.relayout(place, { width: null, autosize: true }));
  });

  setTheme(root.dataset.theme).then(() => { root.dataset.ready = "true"; });
})();
