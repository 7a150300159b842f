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
const WORDS = {
  starting: "Starting: the first fit after an installation compiles the sampler, which takes a minute or two",
  tuning: "Finding good steps", sampling: "Drawing", writing: "Writing the answer",
};
const duration = (seconds) => (seconds < 90 ? `${Math.max(1, Math.round(seconds))} seconds` : `${Math.round(seconds / 60)} minutes`);

function tell(fit) {
  const bar = document.getElementById("done");
  const share = fit.total ? fit.done / fit.total : 0;
  if (fit.state === "waiting") return;
  if (fit.total) bar.value = 100 * share; else bar.removeAttribute("value");
  const what = WORDS[fit.what] ?? (fit.what ? fit.what[0].toUpperCase() + fit.what.slice(1) : "Starting");
  if (fit.state === "running") document.getElementById("what").textContent = fit.total ? `${what}: ${Math.floor(100 * share)}%` : `${what} …`;
  const left = fit.left ? `About ${duration(fit.left)} left of this part. ` : "";
  document.getElementById("left").textContent = `${left}${duration(fit.seconds)} so far. You may close this page and come back.`;
}

async function follow() {
  try {
    const answer = await fetch(card.dataset.watch);
    if (!answer.ok) { location.reload(); return; }
    const fit = await answer.json();
    if (fit.state === "done") { location.assign(card.dataset.next); return; }
    if (fit.state !== card.dataset.state) { location.reload(); return; }
    tell(fit);
  } catch { document.getElementById("left").textContent = "The page cannot be reached. Was it stopped in the terminal?"; }
  setTimeout(follow, 1000);
}
if (card) follow();
