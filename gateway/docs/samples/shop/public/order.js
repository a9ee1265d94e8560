// The order's page: mounts the card fields with the SDK, pays, and shows the webhooks of the shop's server. The SDK's
// result is for display only; the server's status, by the signed webhook, decides.

const main = document.querySelector("main");
const find = (id) => document.getElementById(id);
const button = find("pay");
/** Selected test cards of the processor, offered in test mode only. */
const testCards = {
  4242424242424242: "Pays",
  4000000000000002: "Is declined",
  4000002500003155: "Requires 3-D Secure",
  4000000000006108: "Takes a while",
};
let order = { status: main.dataset.status, webhooks: [] };
let shown = "";

function viewNow() {
  if (order.status === "paid") return "paid";
  const state = checkout?.state ?? "failed";
  if (state === "succeeded") return "confirmed";
  if (order.status !== "open") return order.status;
  const views = { action_required: "bank", processing: "processing", expired: "expired", canceled: "canceled" };
  return views[state] ?? (state === "failed" ? "failed" : "pay");
}

function show() {
  const isAsking = ["idle", "loading", "ready"].includes(checkout?.state);
  if (order.status !== "open" && isAsking) checkout.destroy(); // the order has ended
  const view = viewNow();
  if (view === shown) return;
  const isFirst = shown === "";
  shown = view;
  main.dataset.view = view;
  for (const section of document.querySelectorAll("[data-view]")) {
    if (section !== main) section.hidden = !section.dataset.view.split(" ").includes(view);
  }
  find("fields").hidden = view !== "pay" && view !== "bank";
  if (!isFirst && view !== "pay") document.querySelector(`[data-view="${view}"] h1`)?.focus();
}

function setText(id, text) {
  find(id).textContent = text;
  find(id).hidden = text === "";
}

function showWebhooks() {
  find("silence").hidden = order.webhooks.length > 0;
  find("twice").hidden = order.webhooks.filter(({ type }) => type === "payment.succeeded").length < 2;
  find("webhooks").replaceChildren(
    ...order.webhooks.map(({ type, at, body, delivery }) => {
      const row = document.createElement("li");
      const [name, proof, raw] = ["strong", "span", "code"].map((kind) => document.createElement(kind));
      name.textContent = type;
      proof.textContent = `signature verified, ${new Date(at).toLocaleTimeString()}`;
      raw.append(...body.split(/(?<=,)/).flatMap((part) => [part, document.createElement("wbr")]));
      raw.title = delivery;
      row.append(name, proof, raw);
      return row;
    }),
  );
  const { card, receipt } = order;
  if (card) setText("card", `By ${card.brand[0].toUpperCase()}${card.brand.slice(1)}, ending in ${card.last4}.`);
  if (receipt) find("receipt").href = receipt;
  find("receipt").hidden = !receipt;
}

/** Each event contains the whole order, so a lost event does no harm. */
new EventSource(`/orders/${main.dataset.reference}/events`).addEventListener("message", ({ data }) => {
  order = JSON.parse(data);
  showWebhooks();
  show();
});

const checkout = main.dataset.secret && window.Tollbooth ? start(main.dataset.secret) : undefined;
show();

function start(sessionSecret) {
  const accentColor = getComputedStyle(main).getPropertyValue("--leaf");
  const handle = window.Tollbooth.create({ sessionSecret, appearance: { theme: "auto", accentColor } });
  const left = window.Tollbooth.consumeReturn();
  if (left?.status === "open") setText("note", "You left the payment page. Nothing was charged: you can pay here.");
  const settle = () => {
    button.disabled = handle.state !== "ready";
    button.classList.toggle("is-busy", handle.state === "submitting");
    queueMicrotask(show); // the first state arrives before `checkout` is assigned
  };
  const pay = async () => {
    setText("alert", "");
    setText("note", "");
    const result = await handle.confirm();
    if (result.type !== "declined" && result.type !== "error") return;
    setText("alert", result.error.message);
    find("alert").focus();
  };
  handle.on("state", settle);
  handle.on("ready", () => offerCards(handle));
  handle.on("submit_requested", pay);
  button.addEventListener("click", pay);
  handle.mount("#fields").then((mounted) => {
    if (!mounted.ok) setText("failure", `${mounted.error.message} Nothing was charged.`);
    settle();
  });
  return handle;
}

function offerCards(handle) {
  const offered = handle.testCards.filter(({ number }) => testCards[number]);
  const chips = offered.map(({ number }) => {
    const chip = document.createElement("button");
    chip.type = "button";
    chip.dataset.card = number;
    chip.textContent = testCards[number];
    chip.addEventListener("click", () => {
      handle.fillTestCard(number);
      button.focus();
    });
    return chip;
  });
  find("cards").hidden = chips.length === 0;
  find("cards").replaceChildren(find("cards").firstElementChild, ...chips);
}
