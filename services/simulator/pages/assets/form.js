// The card form: status, payment, challenge and result, with messages to the framing page.
import { waitForBank } from "./bank-step.js";
import { showChallenge } from "./challenge-step.js";
import { openFramePort, pageHeight } from "./frame-port.js";
import { localeTag, speak, textOf } from "./language.js";
import { paymentFields } from "./payment-fields.js";
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
  focus: () => fields.focus(),
  speak: (locale) => speak(locale).then(showAmount),
});
const fields = paymentFields((complete) => frame.post({ type: "change", complete }));
let payment = {};

form.addEventListener("submit", (event) => {
  event.preventDefault();
  // If the parent has the Pay button, Enter is forwarded to it.
  if (frame.hasPayButton()) submit();
  else if (!payButton.disabled) frame.post({ type: "submit_requested" });
});

document.getElementById("test-cards").addEventListener("click", (event) => {
  const number = event.target.closest("[data-card]")?.dataset.card;
  if (!number) return;
  fillTestCard(number);
  payButton.focus();
});

const startPausesMs = [500, 1_000, 2_000, 4_000]; // together less than the parent waits for a form that is silent

/** Retries a request without an answer, since failures are often temporary. */
async function firstAnswer() {
  const once = () => ask(`${path}/status`, { client_secret }).catch(() => undefined);
  let answer = await once();
  for (const ms of startPausesMs) {
    if (answer && answer.status < 500 && answer.status !== 429) break;
    await pause(ms);
    answer = await once();
  }
  return answer;
}

async function start() {
  const answer = await firstAnswer();
  if (answer?.status === 200) {
    payment = answer.body;
    document.getElementById("description").textContent = payment.description ?? "";
    document.getElementById("name-field").hidden = payment.asks_name !== true;
    fields.offer(payment.methods);
    showAmount();
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

function showAmount() {
  const brands = document.getElementById("brands");
  brands.setAttribute("aria-label", textOf("brands", { brands: brands.dataset.brands }));
  if (payment.amount === undefined) return;
  document.getElementById("amount").textContent = amountText(payment);
  document.getElementById("pay-label").textContent = textOf("pay", { amount: amountText(payment) });
}

function submit() {
  if (payButton.disabled) return;
  if (fields.check()) void pay();
  else frame.post({ type: "invalid" });
}

/** Fills in a test card; other numbers are ignored. */
function fillTestCard(number) {
  const isKnown = testCards().some((card) => card.number === number);
  if (!isKnown || payButton.disabled) return;
  if (fields.fillOther(number)) return;
  fields.useCard();
  const expiry = `12 / ${(new Date().getFullYear() + 3) % 100}`;
  fields.fill({ number, expiry, cvc: "123", postal_code: "10115", ...(payment.asks_name && { name: "Test Buyer" }) });
}

function testCards() {
  return [...document.querySelectorAll("li:not([hidden]) [data-card]")].map((button) => ({
    number: button.dataset.card,
    label: button.querySelector("span").textContent,
  }));
}

async function pay() {
  work(true);
  showError(undefined);
  announce(textOf("paying"));
  const order = { client_secret, locale: localeTag(), ...fields.values() };
  const answer = await ask(`${path}/pay`, order).catch(() => undefined);
  if (answer?.status === 200) return show(answer.body.status, answer.body);
  if (answer?.status === 400 && answer.body.error?.field) {
    work(false);
    frame.post({ type: "invalid" });
    return fields.reject(answer.body.error.field);
  }
  if (answer?.status === 404) return showResult("invalid");
  return recover();
}

/** Shows the status and posts it to the frame. `lost` is not posted, which tests a lost result. */
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
      return showError(textOf(failures[answer.failure_code] ?? "declined"));
    case "requires_action": {
      hideForm(true);
      const chosen = await (answer.challenge_url.includes("/bank/")
        ? waitForBank(answer.challenge_url, readStatus)
        : showChallenge(answer.challenge_url, amountText(payment)));
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

/** The status as a result of the last attempt; undefined without an answer. */
async function readStatus() {
  const answer = await ask(`${path}/status`, { client_secret }).catch(() => undefined);
  return answer?.status === 200 ? { ...answer.body, status: settled(answer.body) } : undefined;
}

const failures = {
  debit_failed: "debitFailed",
  insufficient_funds: "funds",
  expired_card: "expired",
  incorrect_cvc: "cvcRefused",
  processing_error: "tryLater",
  authentication_failed: "notAuthenticated",
  canceled: "givenUp",
};

async function succeed() {
  const { body } = await ask(`${path}/status`, { client_secret }).catch(() => ({ body: payment }));
  showResult("succeeded", body.receipt_url);
  announce(textOf("succeededTitle"));
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

/** After a payment without an answer, checks its status before the buyer may try again. */
async function recover() {
  for (const ms of pollMs.slice(0, 8)) {
    announce(textOf("checking"));
    await pause(ms);
    const answer = await ask(`${path}/status`, { client_secret }).catch(() => undefined);
    if (answer?.status !== 200) continue;
    if (answer.body.status !== "requires_payment_method") return show(answer.body.status, answer.body);
    work(false);
    showError(textOf("notCharged"));
    return frame.post({ type: "result", status: "error", can_retry: true });
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
  if (!isWorking) announce("");
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

/** Announces to screen readers, unless the parent with the Pay button does. */
function announce(text) {
  if (!frame.hasPayButton()) return;
  document.getElementById("live").textContent = text;
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

await start();
