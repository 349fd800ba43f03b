(site) => {
  // What stands on a page of results: read, never clicked. Selectors and limits come with `site`.
  const CAPTCHA = [
    "iframe[src*='captcha' i]", "iframe[title*='captcha' i]", "form[action*='captcha' i]", "[id*='captcha' i]",
    "[class*='captcha' i]", "[name*='captcha' i]",
  ].join(",");
  for (const name of Object.keys(site.selectors)) {
    try { document.querySelector(site.selectors[name]); } catch (error) { return { wrong: name, rows: [] }; }
  }
  const wanted = site.selectors;
  // A cut may leave half of a character, and a page may hold one: that is no text.
  const cut = (text) => text.slice(0, site.longest).replace(/\p{Surrogate}/gu, "\ufffd");
  const words = (element) => element ? cut((element.innerText || element.textContent || "")
    .slice(0, 4 * site.longest).replace(/\s+/g, " ").trim()) : "";
  const find = (within, selector) => selector ? (within.matches(selector) ? within : within.querySelector(selector)) : null;
  const seen = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && getComputedStyle(element).visibility !== "hidden";
  };
  const matched = [...document.querySelectorAll(wanted.results)];
  const kept = matched.filter((one) => !(wanted.leave_out && one.closest(wanted.leave_out)));
  const rows = [];
  for (const one of kept) {
    if (rows.length >= site.most) break;
    const link = find(one, wanted.link);
    const url = link && typeof link.href === "string" && /^https?:/.test(link.href) ? link.href : "";
    const title = words(wanted.title ? find(one, wanted.title) : link);
    if (url || title) {
      rows.push({ url: cut(url), title, snippet: words(find(one, wanted.snippet)) });
    }
  }
  const signs = [...document.querySelectorAll(CAPTCHA + (wanted.captcha ? "," + wanted.captcha : ""))];
  return {
    wrong: "",
    matched: matched.length,
    left_out: matched.length - kept.length,
    rows,
    captcha: signs.some(seen) || (signs.length > 0 && rows.length === 0),
    signed_in: wanted.signed_in ? document.querySelector(wanted.signed_in) !== null : null,
  };
}
