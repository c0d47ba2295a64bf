// the colours of plots, from those of the page

const config = { responsive: true, displaylogo: false, displayModeBar: false };
const scales = {
  light: [[0, "#eceff2"], [0.5, "#5b9bd0"], [1, "#08306b"]],
  dark: [[0, "#2c343e"], [0.5, "#2f78b3"], [1, "#9ad0ff"]],
};
const twoSided = {
  light: [[0, "#b34a00"], [0.25, "#ef9a5c"], [0.5, "#f7f7f5"], [0.75, "#5ea3d0"], [1, "#004c80"]],
  dark: [[0, "#ff9d5c"], [0.25, "#a3592a"], [0.5, "#262c34"], [0.75, "#2f78b3"], [1, "#8fd0ff"]],
};
// for groups other than clusters; told apart by colour-blind readers too
const eight = {
  light: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5B3A8C", "#8F8A1F"],
  dark: ["#56B4E9", "#F0874A", "#2BC59A", "#E79AC7", "#F0C24A", "#9AD0FF", "#A98BE0", "#C9C45A"],
};

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
    colorway: eight[root.dataset.theme],
    colorscale: { sequential: scale, sequentialminus: scale, diverging: twoSided[root.dataset.theme] },
    hoverlabel: { bgcolor: card, bordercolor: line, font: { color: ink }, align: "left" },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: quiet, activecolor: accent },
  };
  const out = merged({ dragmode: false, ...layout }, own);
  for (const axis of ["xaxis", "yaxis"]) {
    out[axis] = merged({ gridcolor: line, linecolor: line, zerolinecolor: line }, out[axis] || {});
  }
  for (const shape of out.shapes || []) shape.line = { color: ink, ...shape.line };
  return out;
}
