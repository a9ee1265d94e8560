// How a payment stands, in place of the form.

const texts = {
  succeeded: ["Payment successful", "Thank you. You can close this page."],
  processing: ["Payment is being processed", "Your bank is confirming the payment. This can take a moment."],
  canceled: ["This payment was canceled", "Nothing was charged. You can close this page."],
  expired: ["This page has expired", "Nothing was charged. Go back to the shop to pay."],
  invalid: ["This link is not valid", "Ask the shop for a new payment link."],
  lost: ["Connection lost", "This page lost its connection. You can close it."],
  unreachable: ["The processor is not answering", "We could not load this payment. Reload the page to try again."],
  unknown: ["We are not sure yet", "The processor did not answer. Check with the shop before you pay again."],
};

/** @param {keyof typeof texts} state @param {string | null} [receiptUrl] */
export function showResult(state, receiptUrl) {
  const [title, text] = texts[state];
  for (const id of ["form", "test-cards"]) document.getElementById(id)?.setAttribute("hidden", "");
  document.getElementById("result").hidden = false;
  document.getElementById("result-icon").className = `result-icon is-${state}`;
  document.getElementById("result-text").textContent = text;
  const heading = document.getElementById("result-title");
  heading.textContent = title;
  heading.focus();
  const link = document.getElementById("result-link");
  if (link && receiptUrl) {
    link.href = receiptUrl;
    link.hidden = false;
  }
}
