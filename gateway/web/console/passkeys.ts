// Forms that a passkey fills in: asks the authenticator with the options beside the form, and sends its answer in a
// hidden field.
import { startAuthentication, startRegistration } from "@simplewebauthn/browser";

export function passkeyForms(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-passkey]")) {
    form.addEventListener("submit", (event) => {
      const field = form.elements.namedItem(form.dataset.response ?? "");
      if (!(field instanceof HTMLInputElement) || field.value !== "") return;
      event.preventDefault();
      tell(form, "");
      void answerOf(form).then(
        (answer) => {
          field.value = answer;
          form.requestSubmit();
        },
        (error: unknown) => tell(form, error instanceof Error ? error.message : String(error)),
      );
    });
  }
  // A page from the browser's history has an answer that was used.
  addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
}

async function answerOf(form: HTMLFormElement): Promise<string> {
  const options = JSON.parse(form.querySelector('script[data-name="passkey"]')?.textContent ?? "{}");
  const answer =
    form.dataset.passkey === "create"
      ? await startRegistration({ optionsJSON: options })
      : await startAuthentication({ optionsJSON: options });
  return JSON.stringify(answer);
}

function tell(form: HTMLFormElement, problem: string): void {
  const place = form.querySelector<HTMLElement>("[data-passkey-problem]");
  if (!place) return;
  place.hidden = problem === "";
  place.textContent = problem;
}
