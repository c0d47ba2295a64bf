// drawing everything, the theme, paper, and the section that is being read

const button = byId("theme");

function drawAll() {
  return Promise.all([...Object.keys(figures).map(drawFigure), drawMap()]);
}

function setTheme(theme) {
  root.dataset.theme = theme;
  button.textContent = theme === "dark" ? "Light" : "Dark";
  button.setAttribute("aria-label", theme === "dark" ? "Use the light theme" : "Use the dark theme");
  return drawAll();
}

button.addEventListener("click", () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => setTheme(event.matches ? "dark" : "light"));

const plots = () => [...document.querySelectorAll(".js-plotly-plot")];
// of many clusters, only those whose cards are open are printed: fifty cards take ten pages
const MOST_PRINTED = 12;
let before = null;
addEventListener("beforeprint", () => {
  const kept = clusters.ids.length > MOST_PRINTED ? ".screen, .card" : ".screen";
  const closed = [...document.querySelectorAll("details:not([open])")].filter((details) => !details.matches(kept));
  before = { theme: root.dataset.theme, closed };
  before.closed.forEach((details) => { details.open = true; });
  if (before.theme === "dark") setTheme("light");
  plots().forEach((place) => {
    const small = place.closest(".wide-plot") ? { "xaxis.tickfont.size": 7 } : {}; // a paper is narrower than a screen
    Plotly.relayout(place, { width: place.closest(".many, .pair, .trio") ? 320 : 660, ...small });
  });
});
addEventListener("afterprint", () => {
  before.closed.forEach((details) => { details.open = false; });
  setTheme(before.theme);
  plots().forEach((place) => Plotly.relayout(place, { width: null, autosize: true }));
});

// the link of the section at the top of the window
const links = [...document.querySelectorAll("nav a")];
const seen = new IntersectionObserver(
  (entries) => {
    const first = entries.find((entry) => entry.isIntersecting);
    if (!first) return;
    links.forEach((link) => {
      const isHere = link.hash === `#${first.target.id}`;
      if (isHere) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
      const list = link.closest("ul");
      if (isHere) list.scrollTo({ left: link.offsetLeft - list.offsetLeft - 20 });
    });
  },
  { rootMargin: "-15% 0px -75% 0px" },
);

showNames();
startNames();
setTheme(root.dataset.theme).then(() => {
  startTables();
  startKeyboard();
  startSelection();
  Object.keys(figures).forEach(listenTo);
  document.querySelectorAll("main > section").forEach((section) => seen.observe(section));
  root.dataset.ready = "true";
});
