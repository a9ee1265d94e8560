// An example shop's checkout page. It displays the SDK's results; server.ts ships on the webhook.

const showStatus = (text) => (document.getElementById("status").textContent = text);
const button = document.getElementById("pay");

async function newSecret() {
  const answer = await fetch("/orders", { method: "POST" });
  return (await answer.json()).session_secret;
}

const checkout = window.Tollbooth.create({ sessionSecret: newSecret });
checkout.on("state", (state) => {
  document.body.dataset.state = state;
  button.disabled = state !== "ready";
});
checkout.on("succeeded", ({ paymentId }) => showStatus(`Thank you. Your order is on its way soon. (${paymentId})`));
button.addEventListener("click", async () => {
  const result = await checkout.confirm();
  if (result.type === "declined" || result.type === "error") showStatus(result.error.message);
  if (result.type === "processing") showStatus("We are waiting for your bank and will write to you.");
});

const mounted = await checkout.mount("#card");
if (mounted.ok) button.textContent = `Pay ${mounted.session.amount.formatted}`;
else showStatus(mounted.error.message);
window.shopCheckout = checkout; // for tests
