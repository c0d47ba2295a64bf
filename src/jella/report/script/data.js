// what the page was given, and small helpers

const root = document.documentElement;
const byId = (id) => document.getElementById(id);
const read = (id) => JSON.parse(byId(`data-${id}`).textContent);
const figures = read("figures");
const points = read("points");
const copy = (value) => JSON.parse(JSON.stringify(value));

// names come from users: Plotly reads a few tags in texts
const escaped = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const short = (text, most = 24) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function merged(base, more) {
  const out = { ...base };
  for (const [key, value] of Object.entries(more)) {
    const both = value && typeof value === "object" && !Array.isArray(value) && out[key];
    out[key] = both ? merged(out[key], value) : value;
  }
  return out;
}

function say(text) {
  byId("said").textContent = text;
}

function download(name, text, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function csv(rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}
