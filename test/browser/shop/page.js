// An example shop's checkout page: the session's secret comes from the shop's backend, the card fields from the processor, by the SDK
// of Tollbooth. It shows what the SDK says; what is shipped is decided by the webhook, in server.ts.

const say = (text) => (document.getElementById("status").textContent = text);
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
checkout.on("succeeded", ({ paymentId }) => say(`Thank you. Your order is on its way soon. (${paymentId})`));
button.addEventListener("click", async () => {
  const result = await checkout.confirm();
  if (result.type === "declined" || result.type === "error") say(result.error.message);
  if (result.type === "processing") say("We are waiting for your bank and will write to you.");
});

const mounted = await checkout.mount("#card");
if (mounted.ok) button.textContent = `Pay ${mounted.session.amount.formatted}`;
else say(mounted.error.message);
window.shopCheckout = checkout; // for looking around in the console
