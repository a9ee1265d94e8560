// The reader's language for code samples, stored only in this browser.
const storageKey = "tollbooth-docs-language";
const first = "curl";

export function rememberedLanguage(): string {
  try {
    return localStorage.getItem(storageKey) ?? first;
  } catch {
    return first;
  }
}

/** Applies the language to the whole page, by the style sheet. */
export function showLanguage(language: string): void {
  document.documentElement.dataset.lang = language;
  for (const button of document.querySelectorAll<HTMLElement>("[data-choose]")) {
    button.setAttribute("aria-pressed", String(button.dataset.choose === shownIn(button, language)));
  }
}

/** A group without the language shows its first one. */
function shownIn(button: HTMLElement, language: string): string {
  const has = button.closest<HTMLElement>("[data-has]")?.dataset.has?.split(" ") ?? [];
  return has.includes(language) ? language : (has[0] ?? "");
}

export function rememberLanguage(language: string): void {
  showLanguage(language);
  try {
    localStorage.setItem(storageKey, language);
  } catch {
    // Without storage the choice lasts for this page.
  }
}
