"""What runs in the browser: it asks for questions and cards, and writes words as words alone."""

from __future__ import annotations

# Only /card is taken as HTML, for the server has escaped it.
SCRIPT = r"""
"use strict";
const form = document.getElementById("search"), list = document.getElementById("found");
const told = document.getElementById("told"), labels = JSON.parse(list.dataset.labels);
const back = document.getElementById("back"), on = document.getElementById("on");
const initial = new URLSearchParams(new FormData(form));
let start = 0, asked = 0, timer = 0, wanted = "", here = null;

function element(name, kind, text) {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  if (text !== undefined) made.textContent = text;
  return made;
}
function fields() {
  const given = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value !== "") given.set(name, value);
  if (start) given.set("start", start);
  return given;
}
function restore() {
  const given = new URLSearchParams(location.search);
  for (const field of form.elements) {
    if (field.name) field.value = given.get(field.name) ?? initial.get(field.name);
  }
  start = Math.max(0, parseInt(given.get("start"), 10) || 0);
  wanted = given.get("open") || "";
}
async function get(address) {
  const reply = await fetch(address);
  if (reply.ok) return reply;
  let why = reply.statusText;
  try { why = (await reply.json()).error; } catch (error) { /* no JSON */ }
  throw new Error(why);
}
async function open(row) {
  if (!row.open || row.dataset.loaded) return;
  row.dataset.loaded = "1";
  const inside = element("div", "inside", "…");
  row.append(inside);
  try {
    const reply = await get("/card?" + new URLSearchParams({id: row.dataset.id}));
    inside.innerHTML = await reply.text();
  } catch (error) {
    inside.textContent = "Cannot be shown: " + error.message;
    delete row.dataset.loaded;
  }
}
function badge(verdict, label) {
  const kind = verdict === "not scored" ? "none" : verdict;
  const made = element("span", "v " + kind, verdict);
  made.title = label;
  return made;
}
function row(found) {
  const made = element("details", "card"), head = element("summary");
  made.dataset.id = found.id;
  head.append(element("span", "q", found.question), " ",
    element("span", "id", found.id + " · " + found.type));
  const states = element("span", "states");
  found.verdicts.forEach((own, i) => {
    const state = element("span", "state", labels[i] + " ");
    if (!own.length) state.append("not asked");
    own.forEach((verdict) => state.append(badge(verdict, labels[i]), " "));
    states.append(state);
  });
  if (typeof found.change === "number") {
    const sign = found.change > 0 ? "+" : "";
    states.append(element("span", "state", "difference " + sign + found.change.toFixed(3)));
  }
  head.append(states);
  made.append(head);
  made.addEventListener("toggle", () => open(made));
  return made;
}
// A choice is a step that the browser's Back undoes; letters that are typed are none.
async function show(step) {
  const mine = ++asked, given = fields(), address = "?" + given;
  clearTimeout(timer);
  list.setAttribute("aria-busy", "true");
  if (step && address !== location.search) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  try {
    const found = await (await get("/questions?" + given)).json();
    if (mine !== asked) return;
    list.replaceChildren(...found.rows.map(row));
    const last = found.start + found.rows.length;
    told.textContent = found.total === 0 ? "No question is like that." :
      found.rows.length ? `${found.start + 1} to ${last} of ${found.total} questions` :
      `${found.total} questions, none from ${found.start + 1} on`;
    back.disabled = found.start === 0;
    on.disabled = last >= found.total;
    start = found.start;
    back.onclick = () => { start = Math.max(0, start - found.page); move(); };
    on.onclick = () => { start += found.page; move(); };
    for (const one of list.children) {
      if (wanted && one.dataset.id === wanted) one.open = true;
    }
    wanted = "";
  } catch (error) {
    if (mine === asked) told.textContent = "Cannot be found: " + error.message;
  }
  if (mine === asked) list.setAttribute("aria-busy", "false");
}
async function move() { await show(true); told.focus(); }
function again(event) {
  start = 0;
  clearTimeout(timer);
  list.setAttribute("aria-busy", "true");
  timer = setTimeout(show, 120, event.target !== form.elements.q);
}
form.elements.q.addEventListener("input", again);
for (const field of form.querySelectorAll("select")) field.addEventListener("change", again);
form.addEventListener("submit", (event) => { event.preventDefault(); again(event); });
form.addEventListener("reset", (event) => setTimeout(again, 0, event));
addEventListener("popstate", () => { restore(); show(); });
for (const way of ["focusin", "click"]) {
  list.addEventListener(way, (event) => { here = event.target.closest("#found > details"); });
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea")) {
    if (event.key !== "Escape") return;
    event.preventDefault();  // it would empty the box and leave the questions as they were
    event.target.blur();
    return;
  }
  if (event.key === "/") { event.preventDefault(); form.elements.q.focus(); }
  if (event.key !== "j" && event.key !== "k") return;
  const cards = [...list.children], at = cards.indexOf(here);
  const next = cards[at < 0 ? 0 : at + (event.key === "j" ? 1 : -1)]?.firstChild;
  if (next) { next.focus(); next.scrollIntoView({block: "nearest"}); }
});
restore();
show();
"""
