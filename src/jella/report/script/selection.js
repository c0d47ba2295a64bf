// samples that a reader selects, by lasso, by group or by name, as a list to copy or save

function showSelection() {
  const rows = [...selection].sort((a, b) => a - b);
  byId("selected").value = rows.map((i) => points.names[i]).join("\n");
  byId("n-selected").textContent = rows.length ? `${rows.length} of ${points.names.length} drawn` : "none";
  if (rows.length) byId("selection").open = true;
  drawMap();
}

function select(rows) {
  selection.clear();
  rows.forEach((i) => selection.add(i));
  showSelection();
}

function listGroups() {
  const list = byId("group");
  if (!list) return;
  const colouring = shownColouring();
  const levels = colouring && colouring.levels ? colouring.levels : [];
  const names = levels.map((level, code) => (isByCluster(colouring) && code < clusters.ids.length ? nameOf(code) : level));
  list.replaceChildren(new Option(levels.length ? `by ${colouring.name} …` : "colour by a group first", ""));
  names.forEach((name, code) => list.append(new Option(name, String(code))));
}

function startSelection() {
  if (!points) return;
  const every = points.names.map((_, i) => i);
  const selectGroup = (code) => {
    byId("group").value = code;
    select(code === "" ? [] : every.filter((i) => shownColouring().values[i] === Number(code)));
  };
  byId("group").addEventListener("change", (event) => selectGroup(event.target.value));
  byId("find").addEventListener("input", (event) => {
    const part = event.target.value.trim().toLowerCase();
    select(part ? every.filter((i) => points.names[i].toLowerCase().includes(part)) : []);
  });
  byId("clear").addEventListener("click", () => {
    byId("group").value = "";
    byId("find").value = "";
    select([]);
  });
  byId("copy").addEventListener("click", () => {
    const box = byId("selected");
    box.select();
    const done = () => say(`${selection.size} names copied.`);
    if (navigator.clipboard) navigator.clipboard.writeText(box.value).then(done, () => document.execCommand("copy"));
    else if (document.execCommand("copy")) done();
  });
  byId("save-selected").addEventListener("click", () => {
    const head = ["sample", ...points.colourings.map((c) => c.name)];
    const rows = [...selection].sort((a, b) => a - b);
    download("samples.csv", csv([head, ...rows.map((i) => [points.names[i], ...points.colourings.map((c) => word(c, i))])]), "text/csv");
  });
  byId("lasso").addEventListener("click", () => {
    isLasso = !isLasso;
    byId("lasso").setAttribute("aria-pressed", String(isLasso));
    drawMap();
  });
  const place = byId("plot-embedding");
  place.on("plotly_selected", (event) => {
    // drawing the map again removes the lasso, which Plotly reports as a selection of nothing
    if (event && event.points && event.points.length) select(event.points.map((point) => point.customdata));
  });
  place.on("plotly_click", (event) => {
    if (clusterValues && !isLasso) choose(clusterValues[event.points[0].customdata]);
  });
  place.on("plotly_legendclick", (event) => {
    selectGroup(String(event.data[event.curveNumber].meta.code));
    return false;
  });
  place.on("plotly_legenddoubleclick", () => false);
  listGroups();
}
