"use strict";
// Says that something is under way, shows where a file may be dropped, and follows a fit. Everything works without it.
for (const form of document.querySelectorAll("form[data-busy]")) {
  form.addEventListener("submit", () => {
    const button = form.querySelector("button:not(.quiet)") ?? form.querySelector("button");
    setTimeout(() => { button.disabled = true; button.textContent = form.dataset.busy; });
  });
}
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
for (const zone of document.querySelectorAll(".drop")) {
  const input = zone.querySelector("input");
  for (const [name, over] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
    zone.addEventListener(name, (event) => { event.preventDefault(); zone.classList.toggle("over", over); });
  }
  zone.addEventListener("drop", (event) => { if (event.dataTransfer.files.length) input.files = event.dataTransfer.files; });
}
for (const select of document.querySelectorAll(".roles select")) {
  select.addEventListener("change", () => { select.className = `role-${select.value}`; });
}

const card = document.querySelector("[data-watch]");

function tell({ what, percent, left }) {
  const bar = document.getElementById("done");
  if (percent === null) bar.removeAttribute("value"); else bar.value = percent;
  for (const [id, text] of [["what", what], ["left", left]]) {
    const line = document.getElementById(id);
    if (line.textContent !== text) line.textContent = text; // what is the same is not read aloud again
  }
}

async function follow() {
  try {
    const answer = await fetch(card.dataset.watch);
    if (!answer.ok) { location.reload(); return; }
    const fit = await answer.json();
    if (fit.state === "done") { location.assign(card.dataset.next); return; }
    if (fit.state !== card.dataset.state) { location.reload(); return; }
    tell(fit.progress);
  } catch { document.getElementById("left").textContent = "The page cannot be reached. Was it stopped in the terminal?"; }
  setTimeout(follow, 1000);
}
if (card) follow();
