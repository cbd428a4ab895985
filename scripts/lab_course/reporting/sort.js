// Makes each column of the tables of the class "sortable" one that sorts: upwards, downwards, as it was.
"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  const valueOf = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value ?? cell.textContent.trim();
  };
  const compare = (a, b) => {
    if (a === "" || b === "") return (a === "") - (b === ""); // what is not there comes last
    return a - b || (isNaN(a) || isNaN(b) ? a.localeCompare(b, "en", { numeric: true }) : 0);
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const next = { none: "ascending", ascending: "descending", descending: "none" };
      const order = next[head.getAttribute("aria-sort")];
      heads.forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", order);
      const rows = [...original];
      const sign = order === "descending" ? -1 : 1;
      if (order !== "none") {
        rows.sort((a, b) => {
          const [x, y] = [valueOf(a, column), valueOf(b, column)];
          return x === "" || y === "" ? compare(x, y) : sign * compare(x, y);
        });
      }
      body.append(...rows);
    });
  });
}
