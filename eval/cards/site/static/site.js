// Sorts a table of systems by the column whose heading is activated; unknown values stay last.
"use strict";
function value(row, column, words) {
  const cell = row.cells[column];
  if (!words) return cell.dataset.value === undefined ? null : Number(cell.dataset.value);
  const text = cell.textContent.trim();
  return text === "" || text === "-" ? null : text;
}
function sort(table, heading) {
  const column = heading.cellIndex, words = heading.dataset.sort === "words";
  const before = heading.getAttribute("aria-sort");
  const first = words || column === 0 ? "ascending" : "descending";
  const second = first === "ascending" ? "descending" : "ascending";
  const order = before === first ? second : first, sign = order === "ascending" ? 1 : -1;
  for (const cell of heading.parentNode.cells) cell.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", order);
  const rows = [...table.tBodies[0].rows].map((row) => [value(row, column, words), row]);
  rows.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (words ? a.localeCompare(b, "en", {numeric: true}) : a - b);
  });
  table.tBodies[0].append(...rows.map(([, row]) => row));
}
for (const table of document.querySelectorAll("table.systems")) {
  for (const heading of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(heading.firstChild);
    button.addEventListener("click", () => sort(table, heading));
    heading.prepend(button);
  }
}
