// Counts the ticked runs, and brings the rows of unfinished runs up to date every five seconds.
"use strict";
const form = document.querySelector("form.list"), ticked = document.getElementById("ticked");
function count() {
  const many = form.querySelectorAll("input:checked").length;
  ticked.textContent = many ? `${many} ticked` : "";
}
async function refresh() {
  const going = document.querySelector(".s-running");
  if (going && !document.hidden) {
    try {
      const reply = await fetch(location.href);
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      for (const row of document.querySelectorAll("tr:has(.s-running)")) {
        const now = page.querySelector(`tr[data-name="${CSS.escape(row.dataset.name)}"]`);
        if (now) row.replaceWith(now);
      }
    } catch (error) { /* the server has ended */ }
  }
  setTimeout(refresh, 5000);
}
if (form) {
  form.addEventListener("change", count);
  addEventListener("pageshow", count);
  setTimeout(refresh, 5000);
}
