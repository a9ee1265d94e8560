// Which language the reader wants to see code in: remembered in this browser, and nowhere else.
const storageKey = "tollbooth-docs-language";
const first = "curl";

/** Storage may be switched off. */
export function rememberedLanguage(): string {
  try {
    return localStorage.getItem(storageKey) ?? first;
  } catch {
    return first;
  }
}

/** Shows it on the whole page: the style sheet does the rest. */
export function showLanguage(language: string): void {
  document.documentElement.dataset.lang = language;
  for (const button of document.querySelectorAll<HTMLElement>("[data-choose]")) {
    button.setAttribute("aria-pressed", String(button.dataset.choose === shownIn(button, language)));
  }
}

/** A group that does not have the language shows its first. */
function shownIn(button: HTMLElement, language: string): string {
  const has = button.closest<HTMLElement>("[data-has]")?.dataset.has?.split(" ") ?? [];
  return has.includes(language) ? language : (has[0] ?? "");
}

export function rememberLanguage(language: string): void {
  showLanguage(language);
  try {
    localStorage.setItem(storageKey, language);
  } catch {
    // It is shown for now, and asked for again on the next page.
  }
}
