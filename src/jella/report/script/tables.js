// tables: saved as CSV, and with a cue where there is more to the right or below

// numbers are saved as programs read them: with the plain minus, without + and commas between thousands
function cellText(cell) {
  const field = cell.querySelector("input");
  const text = (field ? field.value || field.placeholder : cell.textContent).trim();
  const isNumber = cell.matches(".number") && /^[−+-]?[\d,]+(\.\d+)?(e[−+-]?\d+)?%?$/.test(text);
  return isNumber ? text.replace(/−/g, "-").replace(/^\+|,/g, "") : text;
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
  const below = scroll.scrollHeight - scroll.clientHeight - scroll.scrollTop;
  scroll.parentElement.classList.toggle("more", left > 4);
  scroll.parentElement.classList.toggle("down", below > 4);
}
