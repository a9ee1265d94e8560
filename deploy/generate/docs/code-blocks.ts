// Code on a page: a figure that is reachable by keyboard, or the same call in several languages as a group. The page's
// script shows the reader's language; without a script all are visible.
import { type Html, html } from "../../../gateway/html.ts";
import type { Highlight } from "./highlight.ts";

export interface Sample {
  /** Language of the fence. */
  readonly language: string;
  readonly code: string;
}

/** Languages that readers choose between, by fence language; `bash` is curl. */
const choices: Readonly<Record<string, { readonly id: string; readonly name: string }>> = {
  bash: { id: "curl", name: "curl" },
  js: { id: "node", name: "Node" },
  ts: { id: "node", name: "Node" },
  python: { id: "python", name: "Python" },
  php: { id: "php", name: "PHP" },
  go: { id: "go", name: "Go" },
  ruby: { id: "ruby", name: "Ruby" },
};

export const isChoice = (language: string): boolean => language in choices;

/** One block. @param label for screen readers */
export function codeBlock(sample: Sample, highlight: Highlight, label: string): Html {
  return html`<figure class="code">${preformatted(sample, highlight, label)}</figure>`;
}

/** The same call in several languages. */
export function codeGroup(samples: readonly Sample[], highlight: Highlight, label: string): Html {
  const known = samples.map((sample) => ({ sample, choice: choiceOf(sample.language) }));
  const buttons = known.map(
    ({ choice }) => html`<button type="button" data-choose="${choice.id}">${choice.name}</button>`,
  );
  const figures = known.map(
    ({ sample, choice }) => html`<figure class="code" data-lang="${choice.id}"><figcaption>${choice.name}</figcaption>
${preformatted(sample, highlight, `${label}, ${choice.name}`)}</figure>`,
  );
  const has = known.map(({ choice }) => choice.id).join(" ");
  return html`<div class="group" data-has="${has}"><div class="choose" role="group" aria-label="Language">${buttons}</div>
${figures}</div>`;
}

function preformatted({ language, code }: Sample, highlight: Highlight, label: string): Html {
  return html`<pre tabindex="0" role="group" aria-label="${label}"><code>${highlight(code.trimEnd(), language)}</code></pre>`;
}

function choiceOf(language: string): { readonly id: string; readonly name: string } {
  const choice = choices[language];
  if (!choice) throw new Error(`"${language}" is not a selectable language`);
  return choice;
}
