// the clusters: their names, their colours, and the one that is highlighted

const clusters = read("clusters");
const given = read("names");
let chosen = null;
const watchers = [];

const nameOf = (i) => given[i] || `Cluster ${clusters.ids[i]}`;
const tickOf = (i) => (given[i] ? short(given[i], 18) : String(clusters.ids[i]));
const colourOf = (i) => clusters[root.dataset.theme][i];
const isFaded = (i) => chosen !== null && i !== chosen;

function choose(i) {
  chosen = i === chosen ? null : i;
  showChosen();
  say(chosen === null ? "All clusters are shown." : `${nameOf(chosen)} is highlighted.`);
  watchers.forEach((redraw) => redraw());
}

function showChosen() {
  document.querySelectorAll("[data-cluster]").forEach((part) => {
    const i = Number(part.dataset.cluster);
    part.classList.toggle("faded", isFaded(i));
    part.classList.toggle("chosen", i === chosen);
    if (i === chosen && part.matches("details.card")) part.open = true;
  });
  document.querySelectorAll("[data-pick]").forEach((pick) => {
    pick.setAttribute("aria-pressed", String(Number(pick.dataset.pick) === chosen));
  });
  const select = byId("highlight");
  if (select) select.value = chosen === null ? "" : String(chosen);
}

function showNames() {
  document.querySelectorAll("[data-name-of]").forEach((part) => {
    part.textContent = nameOf(Number(part.dataset.nameOf));
  });
}

document.querySelectorAll("[data-pick]").forEach((pick) => {
  pick.addEventListener("click", () => choose(Number(pick.dataset.pick)));
});
if (byId("highlight")) {
  byId("highlight").addEventListener("change", (event) => {
    chosen = null;
    choose(event.target.value === "" ? null : Number(event.target.value));
  });
}
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && chosen !== null) choose(null);
});
