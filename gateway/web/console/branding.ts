// Sends the branding form's input to the preview frame, which has our own origin.

export function brandingPreview(): void {
  const preview = document.querySelector<HTMLElement>("[data-preview]");
  const frame = preview?.querySelector("iframe");
  if (!preview || !frame) return;
  const form = document.querySelector<HTMLFormElement>("form[data-preview-source]");
  const chosen = (name: string) => preview.querySelector<HTMLSelectElement>(`[name=preview_${name}]`)?.value ?? "";
  const notifyFrame = () => {
    // Without the form's token, which the frame does not need. Without a form, the frame shows the stored branding.
    const typed = form && Object.fromEntries([...new FormData(form)].filter(([name]) => name !== "form_token"));
    frame.contentWindow?.postMessage(
      { kind: "tollbooth-preview", state: chosen("state"), ...(typed && { branding: typed }) },
      location.origin,
    );
  };
  const load = () => {
    frame.src = `${frame.dataset.src}?language=${encodeURIComponent(chosen("language"))}`;
  };
  const size = () => {
    document.querySelector("[data-with-preview]")?.classList.toggle("is-wide", chosen("size") === "desktop");
  };
  preview.hidden = false;
  colourPickers(notifyFrame);
  form?.addEventListener("input", notifyFrame);
  frame.addEventListener("load", notifyFrame);
  preview.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLSelectElement)) return;
    if (target.name === "preview_language") load();
    if (target.name === "preview_size") size();
    if (target.name === "preview_state") notifyFrame();
  });
  size();
  load();
}

/** Adds a picker to each colour field; only the field is submitted. */
function colourPickers(notifyFrame: () => void): void {
  for (const picker of document.querySelectorAll<HTMLInputElement>("[data-colour-of]")) {
    const field = document.querySelector<HTMLInputElement>(`[name="${picker.dataset.colourOf}"]`);
    if (!field) continue;
    const follow = () => {
      if (/^#[0-9a-f]{6}$/i.test(field.value)) picker.value = field.value.toLowerCase();
    };
    picker.hidden = false;
    follow();
    field.addEventListener("input", follow);
    picker.addEventListener("input", (event) => {
      event.stopPropagation();
      field.value = picker.value;
      notifyFrame();
    });
  }
}
