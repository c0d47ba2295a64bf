// tables: saved as CSV, and with a cue where they are wider than the page

function cellText(cell) {
  const field = cell.querySelector("input");
  return (field ? field.value || field.placeholder : cell.textContent).trim();
}

function startTables() {
  document.querySelectorAll("button.csv").forEach((button) => {
    button.addEventListener("click", () => {
      const table = button.closest(".table").querySelector("table");
      const rows = [...table.rows].map((row) => [...row.cells].map(cellText));
      const name = table.caption.textContent.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
      download(`${name}.csv`, csv(rows), "text/csv");
    });
  });
  const watch = new ResizeObserver((entries) => entries.forEach(({ target }) => cue(target)));
  document.querySelectorAll(".table > .scroll").forEach((scroll) => {
    watch.observe(scroll);
    scroll.addEventListener("scroll", () => cue(scroll), { passive: true });
  });
}

function cue(scroll) {
  const left = scroll.scrollWidth - scroll.clientWidth - scroll.scrollLeft;
  scroll.parentElement.classList.toggle("more", left > 4);
}
