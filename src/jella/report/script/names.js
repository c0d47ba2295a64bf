// names that readers give to clusters, and a copy of the page that keeps them

function startNames() {
  document.querySelectorAll("input.rename").forEach((field) => {
    const i = field.dataset.place;
    field.value = given[i] || "";
    field.addEventListener("change", () => {
      const name = field.value.trim();
      if (name) given[i] = name;
      else delete given[i];
      showNames();
      listGroups();
      watchers.forEach((redraw) => redraw());
    });
  });
  byId("save-page").addEventListener("click", () => download("report.html", pageSource(), "text/html"));
}

// the page as it was written, with the names: plots are drawn again when it is opened
function pageSource() {
  const page = root.cloneNode(true);
  page.removeAttribute("data-ready");
  page.querySelectorAll("div.plot").forEach((place) => {
    place.replaceChildren();
    place.className = "plot";
    place.removeAttribute("style");
  });
  page.querySelectorAll("style[id^='plotly'], #js-plotly-tester, svg#js-plotly-tester").forEach((part) => part.remove());
  page.querySelectorAll(".faded, .chosen").forEach((part) => part.classList.remove("faded", "chosen"));
  page.querySelector("#said").textContent = "";
  const json = JSON.stringify(given).replace(/</g, "\\u003c").replace(/>/g, "\\u003e").replace(/&/g, "\\u0026");
  page.querySelector("#data-names").textContent = json;
  return `<!DOCTYPE html>\n${page.outerHTML}`;
}
