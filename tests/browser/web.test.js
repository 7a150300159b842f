// `disaggregate serve` in a real browser, driven as a person would: from tables to a report, and what goes wrong on the way.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { chromium } from "playwright-core";
import * as checks from "./checks.js";

const PYTHON = process.env.PYTHON ?? resolve(import.meta.dirname, "../../.venv/bin/python");
const PICTURES = join(import.meta.dirname, "built", "web");
const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 400, height: 850 };
const LONG = 600_000; // a fit on a busy machine, and the first one compiles
const ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]; // no name is ever found: as if the network were off
const ENOUGH = { timeout: 60_000 };

let browser, server, address, home, folder;

before(async () => {
  await mkdir(PICTURES, { recursive: true });
  folder = await mkdtemp(join(tmpdir(), "tables-"));
  server = spawn(PYTHON, ["-m", "disaggregate.cli.main", "serve", "--no-browser"], { stdio: ["ignore", "pipe", "inherit"] });
  address = await new Promise((found, failed) => {
    let said = "";
    server.stdout.on("data", (text) => {
      said += text;
      const known = said.match(/http:\/\/\S+token=\S+/);
      if (known) found(known[0]);
    });
    server.on("exit", () => failed(new Error(`the server ended: ${said}`)));
  });
  home = new URL("/", address).href;
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ARGUMENTS });
});

after(async () => {
  await browser?.close();
  if (server) {
    const ended = new Promise((end) => server.on("exit", end));
    server.kill("SIGINT");
    await ended;
  }
  if (folder) await rm(folder, { recursive: true });
});

/** Open the start page in a profile of its own that can reach nothing but the server. */
async function visit(use) {
  const context = await browser.newContext({ viewport: WIDE, acceptDownloads: true });
  try {
    await context.route((url) => url.origin !== new URL(home).origin, (route) => route.abort());
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const seen = checks.watch(page);
    await page.goto(address);
    await use({ page, seen });
    const foreign = seen.requests.filter((url) => !url.startsWith(home));
    assert.deepEqual(foreign, [], "asked another host");
    assert.deepEqual(seen.complaints.filter((text) => !text.includes("status of 400")), [], "the browser complained");
  } finally {
    await context.close();
  }
}

/** Judge a step wide and on a phone, and take a picture of both. */
async function look(page, name) {
  for (const view of [WIDE, NARROW]) {
    await page.setViewportSize(view);
    const wrong = [...(await checks.isAccessible({ page })), ...(await checks.fits({ page })), ...(await checks.showsAll({ page }))];
    assert.deepEqual(wrong, [], `${name} at ${view.width} px`);
    await page.screenshot({ path: join(PICTURES, `${name}_${view.width}.png`), fullPage: true });
  }
  await page.setViewportSize(WIDE);
}

async function toTheFit(page) {
  await page.getByRole("button", { name: "Check the tables" }).click();
  await page.waitForURL(/check$/, ENOUGH);
  await page.getByRole("link", { name: "Continue to the fit" }).click();
  await page.waitForURL(/fit$/, ENOUGH);
}

async function startQuickly(page) {
  await page.getByText("A quick look").click();
  await page.getByRole("button", { name: /Start the fit/ }).click();
  await page.waitForSelector("#progress", ENOUGH);
}

async function ownTables(n) { // groups of ten at most: large ones with exact results take long to fit
  const levels = ["primary", "secondary", "tertiary"];
  let people = "district,age,school\n";
  const sums = new Map();
  for (let i = 0; i < n; i += 1) {
    const district = i % Math.max(20, n / 10);
    const school = (i * 7 + district * 3 + (i % 11)) % (2 + (district % 2));
    const yes = (i * 31) % 100 < 20 + 25 * school ? 1 : 0;
    people += `d${district},${18 + ((i * 13) % 60)},${levels[school]}\n`;
    const [all, positive] = sums.get(district) ?? [0, 0];
    sums.set(district, [all + 1, positive + yes]);
  }
  const results = ["district,yes,all", ...[...sums].map(([name, [all, yes]]) => `d${name},${yes},${all}`)].join("\n");
  const paths = [join(folder, "people.csv"), join(folder, "results.csv")];
  await writeFile(paths[0], people);
  await writeFile(paths[1], `${results}\n`);
  return paths;
}

async function give(page, people, results) {
  await page.getByLabel("People", { exact: true }).setInputFiles(people);
  await page.getByLabel("Results", { exact: true }).setInputFiles(results);
  await page.getByRole("button", { name: "Read the tables" }).click();
}

test("from the example to a report in at most 8 clicks", { timeout: LONG }, async () => {
  await visit(async ({ page }) => {
    let clicks = 0;
    const click = async (role, name) => { clicks += 1; await page.getByRole(role, { name }).click(); };
    await look(page, "start");
    await click("button", "Take New York");
    await page.waitForURL(/columns$/, ENOUGH);
    await look(page, "columns");
    await click("button", "Check the tables");
    await page.waitForURL(/check$/, ENOUGH);
    await look(page, "check");
    await click("link", "Continue to the fit");
    await look(page, "fit");
    await click("radio", /quick look/);
    await click("button", "Start the fit");
    await page.waitForSelector("#progress", ENOUGH);
    await look(page, "running");
    await page.waitForURL(/answer$/, { timeout: LONG });
    await look(page, "answer");
    await click("link", "Take it home");
    await look(page, "take-home");
    const download = page.waitForEvent("download");
    await click("link", "Download the report");
    const path = join(folder, "report.html");
    await (await download).saveAs(path);
    const report = await readFile(path, "utf8");
    assert.match(report, /The share of “voted for the challenger” among 1,200 people/);
    assert.ok(clicks <= 8, `${clicks} clicks`);
    for (const name of ["tables.xlsx", "subgroups.csv", "model.dgz"]) {
      const file = page.waitForEvent("download");
      await page.locator(`a[download="${name}"]`).click();
      assert.ok((await stat(await (await file).path())).size > 100, name);
    }
    await page.goto(page.url().replace("take-home", "answer"));
    await page.locator("#any select").first().selectOption("race");
    await page.locator("#any select").last().selectOption("gender");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByRole("heading", { name: "By race and gender" }).waitFor(ENOUGH);
    await look(page, "subgroups");
  });
});

test("two files of 2,000 rows, and a reload in mid-fit", { timeout: LONG }, async () => {
  await visit(async ({ page }) => {
    await give(page, ...(await ownTables(2000)));
    await page.waitForURL(/columns$/, ENOUGH);
    await page.getByLabel("What is it called?").fill("said yes");
    await toTheFit(page);
    await startQuickly(page);
    await page.reload();
    await page.waitForURL(/answer$/, { timeout: LONG });
    await page.getByText(/share of “said yes”/).first().waitFor();
    await page.goto(home);
    await page.getByRole("button", { name: /Close said yes/ }).click();
    await page.waitForLoadState();
    assert.equal(await page.getByRole("link", { name: "said yes" }).count(), 0);
  });
});

test("a fit that is killed is reported, and resumes from its checkpoint", { timeout: LONG }, async () => {
  await visit(async ({ page }) => {
    await page.getByRole("button", { name: "Take the country" }).click();
    await page.waitForURL(/columns$/, ENOUGH);
    await toTheFit(page);
    await startQuickly(page);
    await page.getByText(/Drawing: \d/).waitFor({ timeout: LONG });
    process.kill(await fitOf(page.url().split("/s/")[1].split("/")[0]), "SIGKILL");
    await page.getByRole("heading", { name: "The fit was ended from outside" }).waitFor(ENOUGH);
    await look(page, "killed");
    await page.getByRole("button", { name: "Resume from the checkpoint" }).click();
    await page.waitForURL(/answer$/, { timeout: LONG });
  });
});

/** Find the process of the fit of a session. */
async function fitOf(key) {
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const command = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "");
    if (command.includes("fit_process") && command.includes(key)) return Number(name);
  }
  throw new Error("no such process");
}

/** Wait until so many per cent are drawn. */
async function drawn(page, percent) {
  await page.waitForFunction((least) => Number(document.getElementById("what")?.textContent.match(/Drawing: (\d+)%/)?.[1] ?? -1) >= least,
    percent, { timeout: LONG, polling: 100 });
}

test("a fit that is stopped keeps what was drawn, and resumes where nothing was drawn yet", { timeout: LONG }, async () => {
  await visit(async ({ page }) => {
    await page.getByRole("button", { name: "Take the country" }).click();
    await page.waitForURL(/columns$/, ENOUGH);
    await toTheFit(page);
    await startQuickly(page);
    await drawn(page, 1);
    await page.getByText(/seconds left|minutes left/).waitFor(ENOUGH);
    await page.getByRole("button", { name: "Stop and keep what was drawn" }).click();
    await page.getByRole("heading", { name: "The fit was stopped" }).waitFor({ timeout: LONG });
    await page.getByRole("alert").getByText(/before any draw was kept/).waitFor(ENOUGH);
    await look(page, "stopped");
    await page.getByRole("button", { name: "Resume from the checkpoint" }).click();
    await drawn(page, 65);
    await page.getByRole("button", { name: "Stop and keep what was drawn" }).click();
    await page.waitForURL(/answer$/, { timeout: LONG });
    await page.getByText(/stopped before its end/).first().waitFor(ENOUGH);
    await page.getByRole("navigation", { name: "Steps" }).getByRole("link", { name: "Fit" }).click();
    await page.getByText(/with \d+ of 500 draws per chain/).waitFor(ENOUGH);
    await look(page, "stopped-early");
  });
});

test("from the example to a report by keyboard alone", { timeout: LONG }, async () => {
  await visit(async ({ page }) => {
    const press = async (name, key = "Enter") => {
      for (let i = 0; i < 120; i += 1) {
        await page.keyboard.press("Tab");
        const here = await page.evaluate(() => {
          const { activeElement: at } = document;
          const outline = getComputedStyle(at);
          const shown = outline.outlineStyle !== "none" || outline.boxShadow !== "none";
          return { name: (at.labels?.[0] ?? at).textContent?.trim() ?? "", shown: shown || at === document.body };
        });
        assert.ok(here.shown, `nobody sees that ${here.name} has the focus`);
        if (here.name.startsWith(name)) { if (key) await page.keyboard.press(key); return; }
      }
      throw new Error(`no way to ${name}`);
    };
    await press("Take the country");
    await page.waitForURL(/columns$/, ENOUGH);
    await press("What is it called?", null);
    await page.keyboard.press("Control+A");
    await page.keyboard.type("chose purple");
    await press("Check the tables");
    await page.waitForURL(/check$/, ENOUGH);
    await press("Continue to the fit");
    await page.waitForURL(/fit$/, ENOUGH);
    await press("A full fit", "ArrowUp"); // radio buttons are one stop; arrows choose
    await press("Start the fit");
    await page.waitForSelector("#progress", ENOUGH);
    await page.waitForURL(/answer$/, { timeout: LONG });
    await page.getByText(/share of “chose purple”/).first().waitFor(ENOUGH);
    await press("Take it home");
    await page.waitForURL(/take-home$/, ENOUGH);
    const download = page.waitForEvent("download");
    await press("Download the report");
    assert.equal((await download).suggestedFilename(), "report.html");
  });
});

describe("what goes wrong is told on the page", () => {
  test("a file that is no table", async () => {
    await visit(async ({ page }) => {
      const [people, results] = await ownTables(40);
      const bad = join(folder, "bad.pdf");
      await writeFile(bad, "%PDF");
      await give(page, bad, results);
      await page.getByRole("alert").getByText(/must end in/).waitFor(ENOUGH);
      await look(page, "bad-file");
      await writeFile(people, "district,age\nd1\n");
      await give(page, people, results);
      await page.getByRole("alert").getByText(/people/).waitFor(ENOUGH);
    });
  });

  test("a table that can be read in several ways has a button for each", async () => {
    await visit(async ({ page }) => {
      const [people, results] = await ownTables(40);
      await writeFile(results, (await readFile(results, "utf8")).replaceAll(/^(d\d+),(\d+),(\d+)$/gm, "$1;$2,$3").replace("district,yes,all", "district;yes,all"));
      await give(page, people, results);
      await page.waitForURL(/tables$/, ENOUGH);
      await page.reload();
      await look(page, "ways");
      await page.getByRole("button", { name: /semicolons/ }).click();
      await page.waitForURL(/columns$/, ENOUGH);
      await page.getByRole("button", { name: "Choose again" }).click();
      await page.waitForURL(/tables$/, ENOUGH);
    });
  });

  test("a wrong column", async () => {
    await visit(async ({ page }) => {
      await give(page, ...(await ownTables(100)));
      await page.waitForURL(/columns$/, ENOUGH);
      await page.locator("#results-1").selectOption("ignore");
      await page.getByRole("button", { name: "Check the tables" }).click();
      await page.getByRole("alert").getByText(/share, or the count/).waitFor(ENOUGH);
      await look(page, "wrong-column");
    });
  });
});
