// Submits forms with a passkey: calls the authenticator with the form's options, or options fetched on submit, and
// sends its response in a hidden field.
import { startAuthentication, startRegistration } from "@simplewebauthn/browser";

export function passkeyForms(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-passkey]")) {
    form.addEventListener("submit", (event) => {
      const field = form.elements.namedItem(form.dataset.response ?? "");
      if (!(field instanceof HTMLInputElement) || field.value !== "") return;
      event.preventDefault();
      showProblem(form, "");
      void answerOf(form).then(
        (answer) => {
          field.value = answer;
          form.requestSubmit();
        },
        (error: unknown) => showProblem(form, error instanceof Error ? error.message : String(error)),
      );
    });
  }
  // A page restored from the browser's history has a used response.
  addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
}

async function answerOf(form: HTMLFormElement): Promise<string> {
  const options = form.dataset.options ? await newOptions(form, form.dataset.options) : embeddedOptions(form);
  const answer =
    form.dataset.passkey === "create"
      ? await startRegistration({ optionsJSON: options })
      : await startAuthentication({ optionsJSON: options });
  return JSON.stringify(answer);
}

function embeddedOptions(form: HTMLFormElement) {
  return JSON.parse(form.querySelector('script[data-name="passkey"]')?.textContent ?? "{}");
}

async function newOptions(form: HTMLFormElement, path: string) {
  const failed = new Error(form.dataset.failed);
  const answer = await fetch(path, { method: "POST" }).catch(() => undefined);
  if (!answer?.ok) throw failed;
  const { challenge_id: id, options } = await answer.json();
  const field = form.elements.namedItem(form.dataset.challenge ?? "");
  if (!(field instanceof HTMLInputElement)) throw failed;
  field.value = id;
  return options;
}

function showProblem(form: HTMLFormElement, problem: string): void {
  const element = form.querySelector<HTMLElement>("[data-passkey-problem]");
  if (!element) return;
  element.hidden = problem === "";
  element.textContent = problem;
}
