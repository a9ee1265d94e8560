// The shop's pages. The template escapes values. Pages have no inline script or style, so their policy can refuse both.

/** HTML with its values escaped. */
function html(parts, ...values) {
  const text = parts.reduce((whole, part, at) => whole + part + (at < values.length ? shown(values[at]) : ""), "");
  return { text };
}

function shown(value) {
  if (Array.isArray(value)) return value.map(shown).join("");
  if (typeof value?.text === "string") return value.text;
  return String(value ?? "").replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

export function price({ amount, currency }) {
  return new Intl.NumberFormat("en-US", { style: "currency", currency }).format(amount / 100);
}

function page(title, body, scripts = html``) {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="A demo shop with one book, paid by card or test card: every step of a purchase with Tollbooth.">
<title>${title} · Example Store</title>
<link rel="icon" href="/cover.svg">
<link rel="stylesheet" href="/style.css">
${scripts}
</head>
<body>
<header><p class="bar">Demo shop<span> · test mode, no money moves</span></p>
<p class="head"><a class="name" href="/">Example Store</a></p></header>
${body}
<footer>One product, one program: <code>gateway/docs/samples/shop</code></footer>
</body>
</html>
`.text;
}

export function productPage(product, reference) {
  return page(
    product.name,
    html`<main class="product">
<div class="stage"><img src="/cover.svg" width="320" height="400" alt="A yellow cookbook with two lemons on its cover"></div>
<div class="offer">
<h1>${product.name}</h1>
<p class="author">Eighty recipes, by Ada Limone</p>
<p class="price">${price(product)}</p>
<p>Lemonade, lemon tart, preserved lemons, and what to do with the eleven that are left. Hardcover, 216 pages.</p>
<form method="post" action="/orders"><input type="hidden" name="order" value="${reference}">
<button class="button">Buy now</button></form>
<ul class="assurances"><li>Pay by card, or with a test card</li><li>Change your mind until it is paid</li></ul>
</div>
<section class="steps" aria-labelledby="steps"><h2 id="steps">What happens when you buy</h2>
<ol>
<li><strong>The shop’s server creates a session</strong> with its API key, an <code>Idempotency-Key</code> and its order number as <code>reference</code>.</li>
<li><strong>The page mounts the card fields</strong> with only the session’s secret. They belong to the processor: the shop never sees a card.</li>
<li><strong>A signed webhook reports the payment.</strong> The server verifies it, reads the payment, and your order changes on this page.</li>
</ol></section>
</main>`,
  );
}

/** The first view of the page; its script switches views. */
const firstViews = { open: "pay", paid: "paid", expired: "expired", canceled: "canceled" };

export function orderPage(order, api) {
  const first = firstViews[order.status];
  const view = (names, content) =>
    html`<section data-view="${names}"${names.split(" ").includes(first) ? html`` : html` hidden`}>${content}</section>`;
  const scripts = html`<script src="${api}/js/v1/checkout.js" defer></script><script type="module" src="/order.js"></script>`;
  const again = html`<a class="button" href="/">Back to the shop</a>`;
  const hosted = html`<a id="hosted" href="${order.session.checkout_url}">Pay on the hosted page instead</a>`;
  const isOpen = order.status === "open";
  return page(
    `Order ${order.reference}`,
    html`<main class="order" data-reference="${order.reference}" data-status="${order.status}" data-secret="${isOpen ? order.session.session_secret : ""}">
<aside class="summary" aria-label="Your order"><img src="/cover.svg" width="64" height="80" alt="">
<div><p class="what">${order.name}</p><p class="number">Order <span>${order.reference}</span></p></div>
<p class="sum">${price(order)}</p></aside>
<div class="card">
${view(
  "pay",
  html`<h1 tabindex="-1">Pay by card</h1>
<p id="note" class="note" role="status" hidden></p>
<p id="alert" class="alert" role="alert" tabindex="-1" hidden></p>`,
)}
${view("bank", html`<h1 tabindex="-1">Confirm with your bank</h1><p>Confirm the payment below. Your order is reserved.</p>`)}
<div id="fields"${isOpen ? html`` : html` hidden`}></div>
${view(
  "pay",
  html`<button id="pay" class="button" disabled><span class="label">Pay ${price(order)}</span></button>
<div id="cards" class="cards" hidden><p>Test mode: fill in a card</p></div>
<noscript><p class="alert">The card fields need JavaScript, and so does the hosted page.</p></noscript>
<p class="ways">${hosted}</p>
<form method="post" action="/orders/${order.reference}/cancel"><button class="quiet">Cancel this order</button></form>`,
)}
${view(
  "processing",
  html`<div class="mark wait" aria-hidden="true"></div><h1 tabindex="-1">Your payment is being processed</h1>
<p>The bank has not answered yet. You may close this page: your order continues. Do not pay again.</p>${again}`,
)}
${view(
  "confirmed",
  html`<div class="mark wait" aria-hidden="true"></div><h1 tabindex="-1">Payment received</h1>
<p>The shop ships after it receives the signed webhook.</p>`,
)}
${view(
  "paid",
  html`<div class="mark good" aria-hidden="true"></div><h1 tabindex="-1">Thank you. Your order is paid.</h1>
<p><span id="card"></span> A signed webhook has confirmed it, and the book is on its way.</p>
<p><a id="receipt" hidden target="_blank" rel="noopener noreferrer">Receipt</a></p>${again}`,
)}
${view(
  "expired",
  html`<div class="mark" aria-hidden="true"></div><h1 tabindex="-1">This order has ended</h1>
<p>It was not paid, and nothing was charged.</p>${again}`,
)}
${view(
  "canceled",
  html`<div class="mark" aria-hidden="true"></div><h1 tabindex="-1">This payment was canceled</h1>
<p>Nothing was charged. A session ends after ten declined cards.</p>${again}`,
)}
${view(
  "failed",
  html`<div class="mark" aria-hidden="true"></div><h1 tabindex="-1">The card fields did not load</h1>
<p id="failure">Nothing was charged.</p><p><a class="button" href="/orders/${order.reference}">Try again</a></p><p class="ways"><a href="${order.session.checkout_url}">Pay on the hosted page instead</a></p>`,
)}
</div>
<section class="webhooks" aria-labelledby="webhooks-title"><h2 id="webhooks-title">Webhooks received by the shop’s server</h2>
<p id="silence">None yet. Each signed webhook appears here when it arrives.</p>
<ol id="webhooks" aria-live="polite"></ol>
<p id="twice" hidden>This event arrives twice: from the confirm and from the processor. The order ships once.</p></section>
</main>`,
    scripts,
  );
}

const failures = {
  not_found: ["Page not found", "The order’s link may be incomplete."],
  other_site: ["Request from another site", "Orders can be created and canceled in this shop only."],
  closed: [
    "The shop cannot take orders now",
    "Its payments account is not active, or its API key may not take payments. Nothing was charged.",
  ],
  trouble: ["Something went wrong", "The shop could not reach Tollbooth. Nothing was charged; go back and try again."],
};

export function failurePage(reason) {
  const [title, text] = failures[reason];
  return page(
    title,
    html`<main class="failure"><div class="card"><div class="mark" aria-hidden="true"></div><h1>${title}</h1><p>${text}</p>
<a class="button" href="/">Back to the shop</a></div></main>`,
  );
}
