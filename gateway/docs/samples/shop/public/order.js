// The order's page: mounts the card fields with the SDK, pays, and shows what the shop's server hears. The SDK's word is
// for the buyer's eyes; the server's word, which follows the signed webhook, is the one that counts.

const main = document.querySelector("main");
const find = (id) => document.getElementById(id);
const button = find("pay");
/** Of the processor's test cards the ones that tell the stories; the fields offer them in test mode only. */
const stories = {
  4242424242424242: "Pays",
  4000000000000002: "Is declined",
  4000002500003155: "Asks for 3-D Secure",
  4000000000006108: "Takes a while",
};
let order = { status: main.dataset.status, heard: [] };
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
  if (order.status !== "open" && isAsking) checkout.destroy(); // nobody types a card for an order that is over
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

function say(id, text) {
  find(id).textContent = text;
  find(id).hidden = text === "";
}

function showHeard() {
  find("silence").hidden = order.heard.length > 0;
  find("twice").hidden = order.heard.filter(({ type }) => type === "payment.succeeded").length < 2;
  find("heard").replaceChildren(
    ...order.heard.map(({ type, at, body, delivery }) => {
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
  if (card) say("card", `By ${card.brand[0].toUpperCase()}${card.brand.slice(1)}, ending in ${card.last4}.`);
  if (receipt) find("receipt").href = receipt;
  find("receipt").hidden = !receipt;
}

/** Each event is the whole order, so that a lost one, or a new connection, changes nothing. */
new EventSource(`/orders/${main.dataset.reference}/events`).addEventListener("message", ({ data }) => {
  order = JSON.parse(data);
  showHeard();
  show();
});

const checkout = main.dataset.secret && window.Tollbooth ? start(main.dataset.secret) : undefined;
show();

function start(sessionSecret) {
  const accentColor = getComputedStyle(main).getPropertyValue("--leaf");
  const handle = window.Tollbooth.create({ sessionSecret, appearance: { theme: "auto", accentColor } });
  const left = window.Tollbooth.consumeReturn();
  if (left?.status === "open") say("note", "You left the payment page. Nothing was charged: the order waits for you.");
  const settle = () => {
    button.disabled = handle.state !== "ready";
    button.classList.toggle("is-busy", handle.state === "submitting");
    queueMicrotask(show); // the first state comes before `checkout` has its value
  };
  const pay = async () => {
    say("alert", "");
    say("note", "");
    const result = await handle.confirm();
    if (result.type !== "declined" && result.type !== "error") return;
    say("alert", result.error.message);
    find("alert").focus();
  };
  handle.on("state", settle);
  handle.on("ready", () => offerCards(handle));
  handle.on("submit_requested", pay);
  button.addEventListener("click", pay);
  handle.mount("#fields").then((mounted) => {
    if (!mounted.ok) say("failure", `${mounted.error.message} Nothing was charged.`);
    settle();
  });
  return handle;
}

function offerCards(handle) {
  const known = handle.testCards.filter(({ number }) => stories[number]);
  const chips = known.map(({ number }) => {
    const chip = document.createElement("button");
    chip.type = "button";
    chip.dataset.card = number;
    chip.textContent = stories[number];
    chip.addEventListener("click", () => {
      handle.fillTestCard(number);
      button.focus();
    });
    return chip;
  });
  find("cards").hidden = chips.length === 0;
  find("cards").replaceChildren(find("cards").firstElementChild, ...chips);
}
