// Asks the server for questions and cards. Text is inserted as text; only /card is inserted as
// HTML, which the server has escaped.
"use strict";
const form = document.getElementById("search"), list = document.getElementById("found");
const state = document.getElementById("status"), labels = JSON.parse(list.dataset.labels);
const previous = document.getElementById("previous"), next = document.getElementById("next");
const initial = new URLSearchParams(new FormData(form));
let start = 0, requests = 0, timer = 0, wanted = "", current = null;

function element(name, kind, text) {
  const created = document.createElement(name);
  if (kind) created.className = kind;
  if (text !== undefined) created.textContent = text;
  return created;
}
function fields() {
  const values = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value !== "") values.set(name, value);
  if (start) values.set("start", start);
  return values;
}
function restore() {
  const values = new URLSearchParams(location.search);
  for (const field of form.elements) {
    if (field.name) field.value = values.get(field.name) ?? initial.get(field.name);
  }
  start = Math.max(0, parseInt(values.get("start"), 10) || 0);
  wanted = values.get("open") || "";
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
  const created = element("span", "v " + kind, verdict);
  created.title = label;
  return created;
}
function row(found) {
  const card = element("details", "card"), head = element("summary");
  card.dataset.id = found.id;
  head.append(element("span", "q", found.question), " ",
    element("span", "id", found.id + " · " + found.type));
  const states = element("span", "states");
  found.verdicts.forEach((verdicts, i) => {
    const one = element("span", "state", labels[i] + " ");
    if (!verdicts.length) one.append("not asked");
    verdicts.forEach((verdict) => one.append(badge(verdict, labels[i]), " "));
    states.append(one);
  });
  if (typeof found.change === "number") {
    const sign = found.change > 0 ? "+" : "";
    states.append(element("span", "state", "difference " + sign + found.change.toFixed(3)));
  }
  head.append(states);
  card.append(head);
  card.addEventListener("toggle", () => open(card));
  return card;
}
// A choice is a step in the browser's history, which Back undoes; typing is not.
async function show(step) {
  const request = ++requests, values = fields(), address = "?" + values;
  clearTimeout(timer);
  list.setAttribute("aria-busy", "true");
  if (step && address !== location.search) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  try {
    const found = await (await get("/questions?" + values)).json();
    if (request !== requests) return;
    list.replaceChildren(...found.rows.map(row));
    const last = found.start + found.rows.length;
    state.textContent = found.total === 0 ? "No question matches." :
      found.rows.length ? `${found.start + 1} to ${last} of ${found.total} questions` :
      `${found.total} questions, none from ${found.start + 1} on`;
    previous.disabled = found.start === 0;
    next.disabled = last >= found.total;
    start = found.start;
    previous.onclick = () => { start = Math.max(0, start - found.page); move(); };
    next.onclick = () => { start += found.page; move(); };
    for (const one of list.children) {
      if (wanted && one.dataset.id === wanted) one.open = true;
    }
    wanted = "";
  } catch (error) {
    if (request === requests) state.textContent = "Search failed: " + error.message;
  }
  if (request === requests) list.setAttribute("aria-busy", "false");
}
async function move() { await show(true); state.focus(); }
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
  list.addEventListener(way, (event) => { current = event.target.closest("#found > details"); });
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea")) {
    if (event.key !== "Escape") return;
    event.preventDefault();  // Escape would empty the box without a new search
    event.target.blur();
    return;
  }
  if (event.key === "/") { event.preventDefault(); form.elements.q.focus(); }
  if (event.key !== "j" && event.key !== "k") return;
  const cards = [...list.children], at = cards.indexOf(current);
  const head = cards[at < 0 ? 0 : at + (event.key === "j" ? 1 : -1)]?.firstChild;
  if (head) { head.focus(); head.scrollIntoView({block: "nearest"}); }
});
restore();
show();
