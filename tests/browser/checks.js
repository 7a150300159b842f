// What must hold of a report in a browser. Each check takes an open page and returns what is wrong, in words.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const SECTIONS = ["The answer", "Subgroups", "Effects", "Groups", "What the data cannot show", "Appendix"];

/** Note from the first moment what a page asks for and complains of. */
export function watch(page) {
  const seen = { requests: [], complaints: [] };
  page.on("request", (request) => seen.requests.push(request.url()));
  page.on("pageerror", (error) => seen.complaints.push(`uncaught: ${error.message}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) seen.complaints.push(`${message.type()}: ${message.text()}`);
  });
  return seen;
}

export async function isQuiet({ seen }) {
  return seen.complaints;
}

export async function asksForNothing({ page, seen }) {
  const allowed = (url) => url === page.url() || url.startsWith("data:");
  return seen.requests.filter((url) => !allowed(url)).map((url) => `asked for ${url}`);
}

export async function renders({ page }) {
  return page.evaluate((sections) => {
    const wrong = [];
    const isSeen = (element) => element.checkVisibility() && element.getBoundingClientRect().height > 0;
    const text = (selector) => [...document.querySelectorAll(selector)].filter(isSeen).map((one) => one.textContent);
    if (!document.title || text("h1").join() !== document.title) wrong.push("the title is not the heading");
    if (text("main h2").join() !== sections.join()) wrong.push(`headings are ${text("main h2").join()}`);
    for (const link of document.querySelectorAll("nav a")) {
      if (!document.querySelector(link.getAttribute("href"))) wrong.push(`no place ${link.getAttribute("href")}`);
    }
    for (const image of document.images) {
      if (!image.naturalWidth || !image.naturalHeight) wrong.push(`no picture in ${image.outerHTML.slice(0, 60)}`);
    }
    const drawings = [...document.querySelectorAll("figure.scatter svg, figure.forest svg.interval")];
    if (drawings.length < 3) wrong.push(`${drawings.length} drawings`);
    for (const drawing of drawings) {
      const caption = drawing.closest("figure").querySelector("figcaption, caption").textContent;
      const frame = drawing.getBoundingClientRect();
      const marks = [...drawing.querySelectorAll("circle, line.bar")].map((mark) => mark.getBoundingClientRect());
      if (frame.width < 60 || frame.height < 15) wrong.push(`no size: ${caption}`);
      else if (!marks.some((mark) => mark.width > 2 && mark.height > 2)) wrong.push(`nothing drawn: ${caption}`);
    }
    for (const table of document.querySelectorAll("table")) {
      if (!isSeen(table) || !table.tBodies[0].rows.length) wrong.push(`empty table: ${table.caption.textContent}`);
    }
    return wrong;
  }, SECTIONS);
}

export async function isAccessible({ page }) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate((tags) => window.axe.run(document, { runOnly: tags }), RULES);
  return violations.map(({ id, help, nodes }) => `${id}: ${help}, at ${nodes[0].target} and ${nodes.length - 1} more`);
}

/** Sort by every column of every table, twice, and judge by what a reader sees, not by what the script sorted by. */
export async function sorts({ page }) {
  const wrong = [];
  for (const table of await page.locator(".scroll table").all()) {
    const before = await readTable(table);
    for (let place = 0; place < before.headings.length; place += 1) {
      for (const direction of ["ascending", "descending"]) {
        await table.locator("th button").nth(place).click();
        const after = await readTable(table);
        const faults = sortingFaults(before, after, place, direction);
        wrong.push(...faults.map((fault) => `${before.caption} ${before.headings[place]}, ${direction}: ${fault}`));
      }
    }
    if (wrong.length) break; // one table that does not sort is enough to know
  }
  return wrong;
}

export async function sortsByKeyboard({ page }) {
  const wrong = [];
  const table = page.locator("#groups .scroll table");
  const button = table.locator("th button").nth(1);
  for (const [key, direction] of [["Enter", "ascending"], ["Space", "descending"]]) {
    await button.focus();
    await page.keyboard.press(key);
    const state = (await readTable(table)).ariaSort[1];
    if (state !== direction) wrong.push(`${key} left the column ${state}`);
  }
  return wrong;
}

function readTable(table) {
  return table.evaluate((element) => ({
    caption: element.caption.textContent,
    headings: [...element.tHead.rows[0].cells].map((cell) => cell.textContent),
    ariaSort: [...element.tHead.rows[0].cells].map((cell) => cell.getAttribute("aria-sort")),
    rows: [...element.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.innerText.trim())),
  }));
}

function sortingFaults(before, after, place, direction) {
  const faults = [];
  const asked = after.headings.map((_, other) => (other === place ? direction : null));
  if (after.ariaSort.join() !== asked.join()) faults.push(`aria-sort is ${after.ariaSort.join()}`);
  const lines = (rows) => rows.map((row) => row.join("|")).sort().join("\n");
  if (lines(before.rows) !== lines(after.rows)) faults.push("rows were lost or changed");
  const column = after.rows.map((row) => row[place]);
  const known = column.filter((text) => text !== "—");
  if (column.slice(known.length).some((text) => text !== "—")) faults.push("gaps are not last");
  const numbers = known.map((text) => (/^[<>+-]?\d[\d,]*(\.\d+)?(%|$)/.test(text) ? Number.parseFloat(text.replace(/[<>,]/g, "")) : Number(text)));
  const areNumbers = numbers.every((number) => !Number.isNaN(number));
  const rounding = known.some((text) => text.includes("%")) ? 1 : 0; // rows have digits of their own
  const order = (i) =>
    areNumbers ? numbers[i] - numbers[i - 1] : known[i].localeCompare(known[i - 1], undefined, { numeric: true });
  const sign = direction === "ascending" ? 1 : -1;
  const out = known.findIndex((_, i) => i > 0 && sign * order(i) < -rounding);
  if (out > 0) faults.push(`${known[out - 1]} stands before ${known[out]}`);
  return faults;
}

/** What only experts want is folded away, and a reader can open it. Expects a page that nobody touched yet. */
export async function folds({ page }) {
  return page.evaluate(() => {
    const parts = [...document.querySelectorAll("details")];
    const wrong = parts.filter((part) => part.open).map((part) => `open: ${part.querySelector("summary").textContent}`);
    if (parts.length < 5) wrong.push(`only ${parts.length} parts are folded`);
    return wrong;
  });
}

/** The page itself never scrolls sideways; wide tables scroll in a box of their own, and letters stay legible. */
export async function fits({ page }) {
  return page.evaluate(() => {
    const wrong = [];
    const root = document.documentElement;
    if (root.scrollWidth > root.clientWidth) wrong.push(`${root.scrollWidth} px wide on ${root.clientWidth}`);
    for (const element of document.querySelectorAll("body *")) {
      const box = element.getBoundingClientRect();
      if (element.closest(".scroll, pre") || !box.width) continue;
      if (box.right > root.clientWidth + 1 || box.left < -1) {
        wrong.push(`${element.tagName.toLowerCase()} reaches from ${box.left | 0} to ${box.right | 0} px`);
      }
    }
    for (const label of document.querySelectorAll("svg text")) {
      const height = label.getBoundingClientRect().height;
      if (label.checkVisibility() && label.textContent.trim() && height < 8) wrong.push(`letters of ${height} px: ${label.textContent}`);
    }
    return wrong.slice(0, 10);
  });
}

/** What is not made to be folded away needs no scrolling sideways, also within its own box. */
export async function showsAll({ page }) {
  return page.evaluate(() =>
    [...document.querySelectorAll(".scroll, pre")]
      .filter((box) => !box.closest("details") && box.scrollWidth > box.clientWidth + 1)
      .map((box) => `${box.scrollWidth} px in ${box.clientWidth}: ${box.textContent.trim().slice(0, 60)}`),
  );
}

/** On paper nothing is for clicking, and everything lies on the sheet. Expects print media at the width of a sheet. */
export async function prints({ page }) {
  const wrong = await page.evaluate(() => {
    const wrong = [];
    if (document.querySelector("nav").checkVisibility()) wrong.push("the links of the page are printed");
    const arrow = getComputedStyle(document.querySelector("th button"), "::after");
    if (arrow.display !== "none" && arrow.content !== "none") wrong.push("the arrows for sorting are printed");
    for (const element of document.querySelectorAll("main *")) {
      const box = element.getBoundingClientRect();
      if (box.width && box.right > document.documentElement.clientWidth + 1) {
        wrong.push(`${element.tagName.toLowerCase()} ends beyond the sheet, at ${box.right | 0} px`);
      }
    }
    return wrong.slice(0, 10);
  });
  const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
  const sheets = pdf.match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0;
  if (!pdf.startsWith("%PDF") || sheets < 2 || sheets > 40) wrong.push(`${sheets} sheets were printed`);
  return wrong;
}
