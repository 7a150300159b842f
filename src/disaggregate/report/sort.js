"use strict";
// A click, or Enter and Space, on a heading sorts its table; a second one turns the order. Gaps stay last.
for (const table of document.querySelectorAll(".scroll table")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, index) => {
    heading.querySelector("button")?.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      const isNumber = heading.classList.contains("number");
      const key = (row) => row.cells[index].dataset.sort;
      const compare = (one, other) => {
        const [a, b] = [key(one), key(other)];
        if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
        const order = isNumber ? Number(a) - Number(b) : a.localeCompare(b, undefined, { numeric: true });
        return down ? -order : order;
      };
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort(compare));
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    });
  });
}
// What is folded away is printed too.
const folded = () => document.querySelectorAll("main details:not([open])");
addEventListener("beforeprint", () => folded().forEach((part) => { part.open = true; part.dataset.folded = ""; }));
addEventListener("afterprint", () => document.querySelectorAll("[data-folded]").forEach((part) => {
  part.open = false;
  delete part.dataset.folded;
}));
