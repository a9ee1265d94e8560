// The card form, the same page for every payment, in the reader's language. Its script reads the client secret from the
// fragment and loads the rest.
import { brandNames } from "../rules/card-entry.ts";
import { testCards } from "../rules/test-card.ts";
import { fillText, type Language } from "../texts/languages.ts";
import { bankStep, methodChoice, otherMethods, otherTestData } from "./method-choice.ts";
import { type Page, renderPage, testBar, textIn, textsBlock } from "./page.ts";

export function formPage(language: Language): Page {
  const { texts } = language;
  const textOf = textIn(language);
  return renderPage({
    language,
    title: texts.title,
    styles: ["theme.css", "form.css"],
    scripts: ["form.js"],
    framing: "any",
    body: `<body class="form-page">
${brandSymbols}
${testBar(textOf("testMode"), textOf("noMoneyMoves"))}
<main id="card" aria-busy="true">
<header class="summary"><p id="description" class="muted"></p><h1 id="amount"><span class="skeleton">&nbsp;</span></h1></header>
<noscript><p class="notice">${texts.noScript}</p></noscript>
<form id="form" novalidate>
<div id="form-error" class="notice notice-error" role="alert" tabindex="-1" hidden></div>
${methodChoice(textOf)}
<div id="card-fields" class="group">
${field({ name: "name", label: textOf("name"), autocomplete: "cc-name", hint: "", max: 100, isText: true, isHidden: true })}
${field({ name: "number", label: textOf("number"), autocomplete: "cc-number", hint: 'placeholder="1234 1234 1234 1234"', max: 23, labelExtra: acceptedBrands(language), extra: '<svg class="brand" aria-hidden="true" focusable="false"><use id="brand" href="#brand-unknown"></use></svg><span id="brand-name" class="visually-hidden" aria-live="polite"></span>' })}
<div class="row">
${field({ name: "expiry", label: textOf("expiry"), autocomplete: "cc-exp", hint: `data-hint="expiryHint" placeholder="${texts.expiryHint}"`, max: 9 })}
${field({ name: "cvc", label: textOf("cvc"), autocomplete: "cc-csc", hint: `data-hint="cvcHint" placeholder="${texts.cvcHint}"`, max: 4 })}
</div>
${field({ name: "postal_code", label: `${textOf("postal")} <span class="muted">(${textOf("optional")})</span>`, autocomplete: "postal-code", hint: "", max: 10, isText: true })}
</div>
${otherMethods(textOf, field({ name: "iban", label: "IBAN", autocomplete: "off", hint: "", max: 42, isText: true }))}
<button id="pay" class="button" type="submit" disabled><span class="spinner" aria-hidden="true"></span><span id="pay-label"></span></button>
</form>
<section id="challenge" class="step" aria-labelledby="challenge-title" hidden></section>
${bankStep(textOf)}
<section id="result" class="step" hidden><div id="result-icon" class="result-icon" aria-hidden="true"></div>
<h2 id="result-title" tabindex="-1"></h2><p id="result-text" class="muted"></p><p><a id="result-link" target="_blank" rel="noopener noreferrer" hidden>${textOf("viewReceipt")}</a></p></section>
<p id="live" class="visually-hidden" role="status"></p>
</main>
${testCardPanel(textOf("testCards"))}
<footer class="muted"><svg class="lock" aria-hidden="true" focusable="false" viewBox="0 0 16 16"><path d="M4.5 7V5a3.5 3.5 0 0 1 7 0v2h.5a1 1 0 0 1 1 1v5a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V8a1 1 0 0 1 1-1zm1.5 0h4V5a2 2 0 1 0-4 0z"/></svg>${textOf("private")}</footer>
${textsBlock(language)}
</body>`,
  });
}

interface FieldParts {
  readonly name: string;
  /** HTML. */
  readonly label: string;
  readonly autocomplete: string;
  /** Attributes. */
  readonly hint: string;
  readonly max: number;
  readonly isText?: boolean;
  readonly isHidden?: boolean;
  /** HTML next to the label. */
  readonly labelExtra?: string;
  /** HTML next to the input. */
  readonly extra?: string;
}

function field({
  name,
  label,
  autocomplete,
  hint,
  max,
  isText,
  isHidden,
  labelExtra = "",
  extra = "",
}: FieldParts): string {
  const capitals = name === "postal_code" ? "characters" : isText ? "words" : "off";
  return `<div class="field" id="${name}-field"${isHidden ? " hidden" : ""}><div class="field-label"><label for="${name}">${label}</label>${labelExtra}</div>
<div class="input"><input id="${name}" name="${name}" type="text" inputmode="${isText ? "text" : "numeric"}" autocomplete="${autocomplete}"
 ${hint} maxlength="${max}" spellcheck="false" autocapitalize="${capitals}"${isText ? "" : ' dir="ltr"'}${name === "postal_code" ? "" : ' aria-required="true"'} aria-describedby="${name}-error">${extra}</div>
<p id="${name}-error" class="field-error" hidden></p></div>`;
}

function acceptedBrands({ texts }: Language): string {
  const label = fillText(texts.brands, { brands: brandNames.map(({ name }) => name).join(", ") });
  const marks = brandNames.map(({ code }) => `<svg><use href="#brand-${code}"></use></svg>`);
  return `<span id="brands" class="brands" role="img" data-brands="${brandNames.map(({ name }) => name).join(", ")}" aria-label="${label}">${marks.join("")}</span>`;
}

/** One click-to-fill entry per test card, account and bank. */
function testCardPanel(title: string): string {
  const cards = testCards.map((each) => ({ ...each, method: "card" }));
  const entries = [...cards, ...otherTestData].map(
    ({ number, label, method }) =>
      `<li data-method="${method}" hidden><button type="button" data-card="${number}"><span>${label}</span><code>${number.replace(/(.{4})(?=.)/g, "$1 ")}</code></button></li>`,
  );
  return `<details id="test-cards" class="test-cards"><summary>${title}</summary><ul lang="en" dir="ltr">${entries.join("")}</ul></details>`;
}

const brandSymbols = `<svg class="symbols" aria-hidden="true" focusable="false">
<symbol id="brand-unknown" viewBox="0 0 36 24"><rect x="1" y="2" width="34" height="20" rx="3" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M1 8h34" stroke="currentColor" stroke-width="3"/></symbol>
<symbol id="brand-visa" viewBox="0 0 36 24"><rect width="36" height="24" rx="3" fill="#1a1f71"/><text x="18" y="16" text-anchor="middle" font-size="11" font-weight="800" font-style="italic" fill="#fff">VISA</text></symbol>
<symbol id="brand-mastercard" viewBox="0 0 36 24"><rect width="36" height="24" rx="3" fill="#252525"/><circle cx="14" cy="12" r="7" fill="#eb001b"/><circle cx="22" cy="12" r="7" fill="#f79e1b" fill-opacity=".9"/></symbol>
<symbol id="brand-amex" viewBox="0 0 36 24"><rect width="36" height="24" rx="3" fill="#1f72cd"/><text x="18" y="16" text-anchor="middle" font-size="9.5" font-weight="800" fill="#fff">AMEX</text></symbol>
<symbol id="brand-discover" viewBox="0 0 36 24"><rect width="36" height="24" rx="3" fill="#4d4d4d"/><circle cx="24" cy="12" r="6" fill="#f76f20"/></symbol>
<symbol id="brand-diners" viewBox="0 0 36 24"><rect width="36" height="24" rx="3" fill="#0079be"/><circle cx="18" cy="12" r="7" fill="#fff"/></symbol>
<symbol id="brand-jcb" viewBox="0 0 36 24"><rect width="36" height="24" rx="3" fill="#0b4ea2"/><text x="18" y="16" text-anchor="middle" font-size="10" font-weight="800" fill="#fff">JCB</text></symbol>
<symbol id="brand-unionpay" viewBox="0 0 36 24"><rect width="36" height="24" rx="3" fill="#00447c"/><text x="18" y="15.5" text-anchor="middle" textLength="31" lengthAdjust="spacingAndGlyphs" font-size="8" font-weight="800" fill="#fff">UnionPay</text></symbol>
</svg>`;

/** The page of the test bank: a window that the form opens. */
export function bankPage(language: Language): Page {
  return challengePage(language, true);
}

export function challengePage(language: Language, isBank = false): Page {
  const { texts } = language;
  const textOf = textIn(language);
  return renderPage({
    language,
    title: texts.challengeTitle,
    styles: ["theme.css", "form.css"],
    scripts: ["challenge.js"],
    framing: "none",
    body: `<body class="form-page"${isBank ? " data-bank" : ""}>
${testBar(textOf("testMode"), textOf("noMoneyMoves"))}
<main id="card">
<noscript><p class="notice">${texts.noScript}</p></noscript>
<section id="challenge" class="step" aria-labelledby="challenge-title"></section>
<section id="result" class="step" hidden><div id="result-icon" class="result-icon" aria-hidden="true"></div>
<h2 id="result-title" tabindex="-1"></h2><p id="result-text" class="muted"></p></section>
</main>
${textsBlock(language)}
</body>`,
  });
}
