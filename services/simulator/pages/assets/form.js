// The card form at work: how the payment stands, paying, the bank's question, the result; tells the page that frames it.
import { cardFields } from "./card-fields.js";
import { showChallenge } from "./challenge-step.js";
import { openFramePort, pageHeight } from "./frame-port.js";
import { amountText, ask } from "./processor.js";
import { showResult } from "./result-step.js";

const isFramed = window.parent !== window;
const path = location.pathname.replace(/\/$/, "");
const client_secret = location.hash.slice(1); // the fragment never reaches a server or its logs
const form = document.getElementById("form");
const payButton = document.getElementById("pay");
const frame = openFramePort({
  submit: () => submit(),
  fill: (number) => fillTestCard(number),
  focus: () => document.getElementById("number").focus(),
});
const fields = cardFields((complete) => frame.post({ type: "change", complete }));
let payment = {};

form.addEventListener("submit", (event) => {
  event.preventDefault();
  // Where the parent has the Pay button, it hears that the buyer pressed Enter, and submits.
  if (frame.hasPayButton()) submit();
  else if (!payButton.disabled) frame.post({ type: "submit_requested" });
});

document.getElementById("test-cards").addEventListener("click", (event) => {
  const number = event.target.closest("[data-card]")?.dataset.card;
  if (!number) return;
  fillTestCard(number);
  payButton.focus();
});

await start();

async function start() {
  const answer = await ask(`${path}/status`, { client_secret }).catch(() => undefined);
  if (answer?.status === 200) {
    payment = answer.body;
    document.getElementById("amount").textContent = amountText(payment);
    document.getElementById("description").textContent = payment.description ?? "";
    document.getElementById("pay-label").textContent = `Pay ${amountText(payment)}`;
    work(false);
    await show(payment.status);
  } else {
    document.getElementById("amount").textContent = "";
    showResult(answer?.status === 404 ? "invalid" : "unreachable");
    frame.post({ type: "result", status: "error" });
  }
  document.getElementById("card").removeAttribute("aria-busy");
  frame.post({ type: "ready", height: pageHeight(), test_cards: testCards() });
}

function submit() {
  if (payButton.disabled) return;
  if (fields.check()) void pay();
  else frame.post({ type: "invalid" });
}

/** Only the cards of the list: nobody types a real one for the buyer. */
function fillTestCard(number) {
  const isKnown = testCards().some((card) => card.number === number);
  if (!isKnown || payButton.disabled) return;
  fields.fill({ number, expiry: `12 / ${(new Date().getFullYear() + 3) % 100}`, cvc: "123", postal_code: "10115" });
}

function testCards() {
  return [...document.querySelectorAll("[data-card]")].map((button) => ({
    number: button.dataset.card,
    label: button.querySelector("span").textContent,
  }));
}

async function pay() {
  work(true);
  showError(undefined);
  say("Processing your payment");
  const answer = await ask(`${path}/pay`, { client_secret, ...fields.values() }).catch(() => undefined);
  if (answer?.status === 200) return show(answer.body.status, answer.body);
  if (answer?.status === 400 && answer.body.error?.field) {
    work(false);
    frame.post({ type: "invalid" });
    return fields.reject(answer.body.error.field, answer.body.error.message);
  }
  if (answer?.status === 404) return showResult("invalid");
  return recover();
}

/** Shows how the payment stands and tells the frame. `lost` is told to nobody: that is what it tests. */
async function show(status, answer = payment) {
  if (status === "requires_payment_method") return;
  if (status === "lost") return loseConnection();
  frame.post({
    type: "result",
    status,
    ...(answer.failure_code && status === "failed" && { failure_code: answer.failure_code }),
  });
  switch (status) {
    case "failed":
      work(false);
      fields.fill({ cvc: "" });
      return showError(answer.failure_message);
    case "requires_action": {
      hideForm(true);
      const chosen = await showChallenge(answer.challenge_url, amountText(payment));
      hideForm(false);
      return show(chosen.status, chosen);
    }
    case "processing":
      showResult("processing");
      return waitForSettlement();
    case "succeeded":
      return succeed();
    default:
      showResult(status === "expired" ? "expired" : "canceled");
  }
}

async function succeed() {
  const { body } = await ask(`${path}/status`, { client_secret }).catch(() => ({ body: payment }));
  showResult("succeeded", body.receipt_url);
  say("Payment successful");
  if (isFramed || !payment.return_url) return;
  const url = new URL(payment.return_url);
  url.searchParams.set("processor_status", "succeeded");
  await pause(1_500); // long enough to read that it worked
  location.assign(url.href);
}

function loseConnection() {
  showResult("lost");
  if (!isFramed) window.close(); // works in a tab that a script opened
}

const pollMs = [1_000, 1_000, 2_000, 2_000, 3_000, 5_000, 5_000, 10_000, 10_000, 20_000, 30_000, 30_000]; // two minutes

async function waitForSettlement() {
  for (const ms of pollMs) {
    await pause(ms);
    const answer = await ask(`${path}/status`, { client_secret }).catch(() => undefined);
    if (answer?.status === 200 && answer.body.status !== "processing") return show(settled(answer.body), answer.body);
  }
}

/** No answer to paying: asks how the payment stands before the buyer may try again, since it may have gone through. */
async function recover() {
  for (const ms of pollMs.slice(0, 8)) {
    say("The processor is not answering. Checking your payment.");
    await pause(ms);
    const answer = await ask(`${path}/status`, { client_secret }).catch(() => undefined);
    if (answer?.status !== 200) continue;
    if (answer.body.status !== "requires_payment_method") return show(answer.body.status, answer.body);
    work(false);
    showError("The processor did not answer and your card was not charged. Please try again.");
    return frame.post({ type: "result", status: "error" });
  }
  showResult("unknown");
  frame.post({ type: "result", status: "error" });
}

function hideForm(isHidden) {
  form.hidden = isHidden;
  document.getElementById("test-cards").hidden = isHidden;
}

function settled({ status }) {
  return status === "requires_payment_method" ? "failed" : status;
}

function work(isWorking) {
  payButton.disabled = isWorking;
  payButton.classList.toggle("is-working", isWorking);
  document.getElementById("card").toggleAttribute("aria-busy", isWorking);
  fields.enable(!isWorking);
}

function showError(message) {
  const note = document.getElementById("form-error");
  note.textContent = message ?? "";
  note.hidden = message === undefined;
  if (message !== undefined) {
    hideForm(false);
    document.getElementById("result").hidden = true;
    note.focus();
  }
}

function say(text) {
  document.getElementById("live").textContent = text;
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
