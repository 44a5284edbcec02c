// Search in the browser, over an index that travels with the pages: no server, no network.
(() => {
  const box = document.getElementById("search");
  const results = document.getElementById("results");
  const root = document.body.dataset.root.replace(/\/?$/, "/");

  const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

  // A word in the heading is worth more than one in the text; all words must occur.
  function score(entry, words) {
    const title = entry.title.toLowerCase(), text = entry.text.toLowerCase();
    let sum = 0;
    for (const word of words) {
      const inTitle = title.includes(word);
      const times = text.split(word).length - 1;
      if (!inTitle && times === 0) return 0;
      sum += (inTitle ? 20 : 0) + Math.min(times, 8);
    }
    return sum;
  }

  function excerpt(entry, words) {
    const at = Math.max(0, entry.text.toLowerCase().indexOf(words[0]) - 60);
    let shown = escape(entry.text.slice(at, at + 200));
    for (const word of words) shown = shown.replace(new RegExp(escape(word).replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi"), (found) => `<mark>${found}</mark>`);
    return shown;
  }

  function show() {
    const words = box.value.toLowerCase().split(/\s+/).filter((word) => word.length > 1);
    results.hidden = words.length === 0;
    if (words.length === 0) return;
    const found = (window.searchIndex ?? [])
      .map((entry) => ({ entry, points: score(entry, words) }))
      .filter(({ points }) => points > 0)
      .sort((a, b) => b.points - a.points)
      .slice(0, 12);
    results.innerHTML = found.length === 0 ? "<p>Nothing found.</p>" : found
      .map(({ entry }) => `<a href="${root}${escape(entry.url)}">${escape(entry.page)}: ${escape(entry.title)}</a><p>${excerpt(entry, words)}</p>`)
      .join("");
  }

  box.addEventListener("input", show);
  document.getElementById("search-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const first = results.querySelector("a");
    if (first) location.href = first.href;
  });
})();
