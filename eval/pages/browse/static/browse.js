// Lists the questions of the page that match. Text is inserted as text; only a card is inserted as
// HTML, which was escaped when it was made: it comes from the server or, in a file, from the page.
"use strict";
const form = document.getElementById("search"), list = document.getElementById("found");
const state = document.getElementById("status"), labels = JSON.parse(list.dataset.labels);
const previous = document.getElementById("previous"), next = document.getElementById("next");
const keys = document.getElementById("keys"), size = +list.dataset.page;
const rows = JSON.parse(document.getElementById("rows").textContent);
const packed = document.querySelectorAll("script.cards"), unpacked = new Map();
const initial = new URLSearchParams(new FormData(form));
let start = 0, timer = 0, wanted = "", current = null, total = 0;

// As Python's casefold: "Straße" is found by "STRASSE".
const fold = (text) => text.toUpperCase().toLowerCase();
rows.forEach((row, at) => {
  row.at = at;
  row.words = fold([row.id, row.question, row.gold ?? "",
    ...row.runs.map((run) => run?.[1] ?? "")].join("\n"));
});

function element(name, kind, text) {
  const created = document.createElement(name);
  if (kind) created.className = kind;
  if (text !== undefined) created.textContent = text;
  return created;
}
function fields() {
  const values = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (value !== initial.get(name)) values.set(name, value);
  }
  if (start) values.set("start", start);
  return values;
}
// The search is the fragment of the address: a page that is a file may change nothing else of it.
function restore() {
  const values = new URLSearchParams(location.hash.slice(1) || location.search);
  for (const field of form.elements) {
    if (!field.name) continue;
    field.value = values.get(field.name) ?? initial.get(field.name);
    if (field.selectedIndex === -1) field.value = initial.get(field.name);
  }
  start = Math.max(0, parseInt(values.get("start"), 10) || 0);
  wanted = values.get("open") || "";
}
function change(row, run, other) {
  const before = row.runs[run]?.[0] ?? null, after = row.runs[other]?.[0] ?? null;
  return run === other || before === null || after === null ? null : after - before;
}
const changes = {
  better: (gap) => gap !== null && gap > 0, worse: (gap) => gap !== null && gap < 0,
  differs: (gap) => gap !== null && gap !== 0, same: (gap) => gap === 0,
};
function search() {
  const {q, type, verdict, run, order, one, other, change: wants} = form.elements;
  const words = fold(q.value).split(/\s+/).filter(Boolean);
  const has = (answer) => Boolean(answer?.[2].includes(verdict.value));
  const matches = rows.filter((row) => {
    row.change = one ? change(row, +one.value, +other.value) : null;
    return (!type.value || row.type === type.value)
      && (!verdict.value || (run?.value ? has(row.runs[+run.value]) : row.runs.some(has)))
      && (!wants?.value || changes[wants.value](row.change))
      && words.every((word) => row.words.includes(word));
  });
  if (!order?.value) return matches;
  const sign = order.value === "gains" ? -1 : 1;
  return matches.filter((row) => row.change !== null).sort((a, b) => sign * (a.change - b.change));
}
async function unpack(part) {
  const bytes = Uint8Array.from(atob(packed[part].textContent), (character) => character.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(plain).text());
}
async function card(row) {
  if (packed.length) {
    const part = Math.floor(row.at / +list.dataset.part);
    if (!unpacked.has(part)) unpacked.set(part, unpack(part));
    return (await unpacked.get(part))[row.id];
  }
  const reply = await fetch("card?" + new URLSearchParams({id: row.id}));
  if (reply.ok) return reply.text();
  let why = reply.statusText;
  try { why = (await reply.json()).error; } catch (error) { /* no JSON */ }
  throw new Error(why);
}
async function open(shown, row) {
  if (!shown.open || shown.dataset.loaded) return;
  shown.dataset.loaded = "1";
  const inside = element("div", "inside", "…");
  shown.append(inside);
  try {
    inside.innerHTML = await card(row);
    const link = element("a", "", "In its conversation");
    link.href = row.place;
    inside.append(link);
  } catch (error) {
    inside.textContent = "Cannot be shown: " + error.message;
    delete shown.dataset.loaded;
  }
}
function badge(verdict, label) {
  const kind = verdict === "not scored" ? "none" : verdict;
  const created = element("span", "v " + kind, verdict);
  created.title = label;
  return created;
}
function entry(row) {
  const shown = element("details", "card"), head = element("summary");
  shown.dataset.id = row.id;
  shown.dataset.place = row.place;
  head.append(element("span", "q", row.question), " ",
    element("span", "id", row.id + " · " + row.type));
  const states = element("span", "states");
  row.runs.forEach((run, i) => {
    const result = element("span", "state", labels[i] + " ");
    if (!run) result.append("not asked");
    else run[2].forEach((verdict) => result.append(badge(verdict, labels[i]), " "));
    states.append(result);
  });
  if (row.change) {
    const sign = row.change > 0 ? "+" : "";
    states.append(element("span", "state", "difference " + sign + row.change.toFixed(3)));
  }
  head.append(states);
  shown.append(head);
  shown.addEventListener("toggle", () => open(shown, row));
  return shown;
}
// A choice is a step in the browser's history, which Back undoes; typing is not.
function show(step) {
  clearTimeout(timer);
  const matches = search();
  total = matches.length;
  if (wanted) {
    const at = matches.findIndex((row) => row.id === wanted);
    if (at >= 0) start = at - at % size;
  }
  if (start >= total) start = Math.max(0, total - 1 - (total - 1) % size);
  const values = fields(), address = "#" + values;
  if (step && address !== location.hash) history.pushState(null, "", address);
  else if (!wanted) history.replaceState(null, "", address);
  const here = matches.slice(start, start + size);
  list.replaceChildren(...here.map(entry));
  current = null;
  state.textContent = total === 0 ? "No question matches." :
    `${start + 1} to ${start + here.length} of ${total.toLocaleString("en")} questions`;
  previous.disabled = start === 0;
  next.disabled = start + size >= total;
  for (const details of list.children) {
    if (wanted && details.dataset.id === wanted) {
      details.open = true;
      go(details);
    }
  }
  wanted = "";
  list.setAttribute("aria-busy", "false");
}
function move(by) {
  start = Math.max(0, start + by);
  show(true);
}
function again(event) {
  start = 0;
  clearTimeout(timer);
  list.setAttribute("aria-busy", "true");
  timer = setTimeout(show, 60, event.target !== form.elements.q);
}
function go(shown) {
  current = shown;
  shown.firstChild.focus({preventScroll: true});
  shown.firstChild.scrollIntoView({block: shown.open ? "start" : "nearest"});
}
// The next (1) or previous (-1) question, on another page of the list if need be.
function go_by(by, carry) {
  const shown = [...list.children], at = shown.indexOf(current);
  const was = carry && current?.open;
  let to = at < 0 ? 0 : at + by;
  if (to < 0 ? previous.disabled : to >= shown.length && next.disabled) return;
  if (was) current.open = false;
  if (to < 0 || to >= shown.length) {
    move(by * size);
    to = by > 0 ? 0 : list.children.length - 1;
  }
  const target = list.children[to];
  if (!target) return;
  if (was || carry) target.open = true;
  go(target);
}
form.elements.q.addEventListener("input", again);
for (const field of form.querySelectorAll("select")) field.addEventListener("change", again);
form.addEventListener("submit", (event) => { event.preventDefault(); again(event); });
form.addEventListener("reset", (event) => setTimeout(again, 0, event));
previous.addEventListener("click", () => { move(-size); state.focus(); });
next.addEventListener("click", () => { move(size); state.focus(); });
document.getElementById("help").addEventListener("click", () => keys.showModal());
addEventListener("popstate", () => { restore(); show(); });
for (const way of ["focusin", "click"]) {
  list.addEventListener(way, (event) => { current = event.target.closest("#found > details"); });
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
  if (event.target.closest("input, select, textarea")) {
    if (event.key !== "Escape") return;
    event.preventDefault();  // Escape would empty the box without a new search
    event.target.blur();
    return;
  }
  const onHead = event.target.matches("#found > details > summary");
  const by = {j: 1, k: -1, J: 1, K: -1, ...(onHead ? {ArrowDown: 1, ArrowUp: -1} : {})}[event.key];
  if (by) go_by(by, event.key === "J" || event.key === "K");
  else if (event.key === "/") form.elements.q.focus();
  else if (event.key === "?") keys.showModal();
  else if (event.key === "c" && current) location.href = current.dataset.place;
  else return;
  event.preventDefault();
});
restore();
show();
