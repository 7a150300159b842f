// The report in a real browser: `make browser` builds it with the command line and runs this.
// Every check is also given a page that was broken on purpose, and must find it.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import * as checks from "./checks.js";

const BUILT = resolve(import.meta.dirname, "built");
const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 390, height: 844 };
const SHEET = { width: 718, height: 1047 }; // A4 at 96 dots an inch, without margins of one centimetre
const ARGUMENTS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

// The policy of the page stops most harm by itself; without it a check must see the harm.
const unguarded = (html) => html.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, "");
const inBody = (code) => (html) => html.replace("</main>", `${code}</main>`);
const unguardedBody = (code) => (html) => inBody(code)(unguarded(html));
const style = (code) => (html) => html.replace("</style>", `${code}</style>`);
const script = (from, to) => (html) => unguarded(html).replace(from, to);

const EXPECTATIONS = [
  {
    check: checks.renders,
    views: [WIDE, NARROW],
    broken: {
      "another title": [(html) => html.replace(/<title>.*?<\/title>/, "<title></title>"), /title is not/],
      "a heading that is not there": [(html) => html.replace(/<h2[^>]*>Groups<\/h2>/, ""), /headings are/],
      "a heading that nobody sees": [style("#effects h2 { display: none; }"), /headings are/],
      "a link to nowhere": [(html) => html.replace('href="#limits"', 'href="#limit"'), /no place #limit/],
      "an image without a picture": [unguardedBody('<img alt="x" src="data:image/png;base64,AAAA">'), /no picture/],
      "a drawing without marks": [(html) => html.replace(/(<svg class="interval"[^>]*>).*?<\/svg>/s, "$1</svg>"), /nothing drawn/],
      "a table without rows": [(html) => html.replace(/<tbody>.*?<\/tbody>/s, "<tbody></tbody>"), /empty table/],
    },
  },
  {
    check: checks.folds,
    views: [WIDE],
    broken: { "a part that is open": [(html) => html.replace("<details>", "<details open>"), /open:/] },
  },
  {
    check: checks.isQuiet,
    views: [WIDE],
    broken: {
      "a script that throws": [unguardedBody("<script>undefinedName()</script>"), /undefinedName/],
      "a script that is not ours": [inBody("<script>1</script>"), /Content Security Policy/],
    },
  },
  {
    check: checks.asksForNothing,
    views: [WIDE],
    broken: {
      "a script of another host": [unguardedBody('<script src="https://host.invalid/a.js"></script>'), /host\.invalid/],
      "a font of another host": [
        (html) => style('@font-face { font-family: f; src: url("https://host.invalid/f"); } p { font-family: f; }')(unguarded(html)),
        /host\.invalid/,
      ],
      "a file beside it": [unguardedBody('<img alt="" src="beside.png">'), /beside\.png/],
    },
  },
  {
    check: checks.isAccessible,
    views: [WIDE, NARROW],
    broken: {
      "an image without words": [unguardedBody('<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">'), /image-alt/],
      "pale letters": [style("p { color: #bbb; }"), /color-contrast/],
      "a button without a name": [inBody("<button></button>"), /button-name/],
      "no language": [(html) => html.replace('<html lang="en">', "<html>"), /html-has-lang/],
    },
  },
  {
    check: checks.sorts,
    views: [WIDE],
    broken: {
      "numbers sorted as text": [script("Number(a) - Number(b)", "a.localeCompare(b)"), /stands before/],
      "text sorted as if it were alike": [script("a.localeCompare(b, undefined, { numeric: true })", "0"), /stands before/],
      "an order that never turns": [script("down ? -order : order", "order"), /descending: .* stands before/],
      "gaps that do not stay last": [script("return (a === undefined) - (b === undefined)", "return 0"), /gaps are not last/],
      "an order that nobody is told": [script('heading.setAttribute("aria-sort"', 'heading.setAttribute("data-x"'), /aria-sort/],
      "an order that is told for ever": [script('other.removeAttribute("aria-sort")', "other"), /aria-sort/],
      "rows that get lost": [script("[...body.rows].sort(compare)", "[...body.rows].sort(compare).slice(1)); body.rows[0].remove("), /rows were lost/],
      "no script": [(html) => html.replace(/<script>.*?<\/script>/s, ""), /aria-sort/],
    },
  },
  {
    check: checks.sortsByKeyboard,
    views: [WIDE],
    broken: { "headings for mice only": [script('"click", ()', '"mousedown", ()'), /Enter left/] },
  },
  {
    check: checks.fits,
    views: [WIDE, NARROW],
    broken: {
      "something wide": [inBody('<div style="width: 2000px; height: 1px"></div>'), /2000|wide/],
      "tables without their box": [style(".scroll { overflow: visible !important; }"), /wide on 390/, NARROW],
      "letters that shrink": [style("figure { width: 120px; }"), /letters of/],
    },
  },
  {
    check: checks.showsAll,
    views: [WIDE, NARROW],
    broken: {
      "a table that must be scrolled": [style("#limits td { min-width: 30rem; }"), /px in/, NARROW],
      "code that must be scrolled": [inBody(`<pre style="white-space: pre">${"long ".repeat(100)}</pre>`), /px in/],
    },
  },
  {
    check: checks.prints,
    views: [SHEET],
    broken: {
      "links on paper": [style("@media print { nav { display: block; } }"), /links/],
      "arrows on paper": [style("@media print { th button::after { display: inline; } }"), /arrows/],
      "a table wider than the sheet": [style("@media print { table { min-width: 1200px; } }"), /beyond the sheet/],
      "an empty page": [style("@media print { main { display: none; } }"), /1 sheets/],
    },
  },
];

let browser;
let html;
let folder;

before(async () => {
  html = await readFile(join(BUILT, "report.html"), "utf8");
  folder = await mkdtemp(join(tmpdir(), "report-"));
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  browser = await chromium.launch({ executablePath, args: ARGUMENTS }); // a profile of its own, thrown away after
});

after(async () => {
  await browser?.close();
  if (folder) await rm(folder, { recursive: true });
});

async function unfold(page) {
  await page.evaluate(() => document.querySelectorAll("details").forEach((part) => { part.open = true; }));
}

/** Open a page in a profile of its own, with nothing to reach but files, and hand it over. */
async function open(path, viewport, use) {
  const context = await browser.newContext({ viewport });
  try {
    await context.route(/^(?!file:|data:)/, (route) => route.abort());
    const page = await context.newPage();
    const seen = checks.watch(page);
    if (viewport === SHEET) await page.emulateMedia({ media: "print" });
    await page.goto(pathToFileURL(path).href);
    if (use !== checks.folds) await unfold(page); // what is folded away is checked too
    return await use({ page, seen });
  } finally {
    await context.close();
  }
}

for (const { check, views, broken } of EXPECTATIONS) {
  describe(check.name, () => {
    for (const view of views) {
      test(`holds at ${view.width} px`, async () => {
        assert.deepEqual(await open(join(BUILT, "report.html"), view, check), []);
      });
    }
    for (const [what, [change, says, view = views[0]]] of Object.entries(broken)) {
      test(`finds ${what}`, async () => {
        const changed = change(html);
        assert.notEqual(changed, html, "the page was not changed");
        const path = join(folder, "broken.html");
        await writeFile(path, changed);
        assert.match((await open(path, view, check)).join("\n"), says);
      });
    }
  });
}

test("it stays accessible and quiet after sorting", async () => {
  const wrong = await open(join(BUILT, "report.html"), NARROW, async (opened) => [
    ...(await checks.sorts(opened)),
    ...(await checks.isAccessible(opened)),
    ...(await checks.isQuiet(opened)),
    ...(await checks.asksForNothing(opened)),
  ]);
  assert.deepEqual(wrong, []);
});

test("the packages of this test are told without the host that they came from", async () => {
  assert.doesNotMatch(await readFile(join(import.meta.dirname, "package-lock.json"), "utf8"), /:\/\//);
});

test("pictures of it can be taken, for people to look at", async () => {
  for (const [name, view] of Object.entries({ wide: WIDE, narrow: NARROW, print: SHEET })) {
    const picture = await open(join(BUILT, "report.html"), view, async ({ page }) => {
      if (view === SHEET) await page.pdf({ path: join(BUILT, "print.pdf"), format: "A4" });
      return page.screenshot({ path: join(BUILT, `${name}.png`), fullPage: true });
    });
    assert.ok(picture.length > 10_000);
  }
});
