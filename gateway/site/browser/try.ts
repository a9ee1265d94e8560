// "Try it" on a local stack: a form below each operation that calls this gateway with a pasted sandbox key. The key
// stays in this page's memory and is sent to this origin only.
const sandboxKey = /^sk_test_[\x21-\x7e]{4,200}$/;
let key = "";

for (const section of document.querySelectorAll<HTMLElement>("section[data-method]")) addPanel(section);

function addPanel(section: HTMLElement): void {
  const panel = document.createElement("details");
  panel.className = "try";
  const title = document.createElement("summary");
  title.textContent = "Try it on this stack";
  panel.append(title);
  // The fields are created on demand, since a page has a dozen operations.
  panel.addEventListener("toggle", () => panel.childElementCount === 1 && panel.append(...formOf(section)), {
    once: true,
  });
  section.querySelector(".shows")?.append(panel);
}

function formOf(section: HTMLElement): HTMLElement[] {
  const { method = "", path = "", access = "", body } = section.dataset;
  const keyField = access === "key" ? field("Sandbox API key (sk_test_…)", "password", key) : undefined;
  const secretField = access === "secret" ? field("Session secret (cs_secret_…)", "password", "") : undefined;
  const inPath = pairsOf(section.dataset.inPath).map(([name]) => [name, field(name, "text", "")] as const);
  const inQuery = pairsOf(section.dataset.inQuery).map(([name, value]) => [name, field(name, "text", value)] as const);
  const bodyField = body === undefined ? undefined : textField("Body", body);
  const send = document.createElement("button");
  send.type = "button";
  send.textContent = `Send ${method}`;
  const status = document.createElement("p");
  status.setAttribute("role", "status");
  const shown = document.createElement("pre");
  shown.tabIndex = 0;
  shown.setAttribute("role", "group");
  shown.setAttribute("aria-label", "Response");
  shown.hidden = true;
  send.addEventListener("click", async () => {
    if (keyField) key = keyField.input.value.trim();
    if (keyField && !sandboxKey.test(key)) {
      status.textContent = "Paste the sandbox key that npm start printed: sk_test_… Live keys are not accepted here.";
      return;
    }
    let address = path;
    for (const [name, { input }] of inPath)
      address = address.replace(`{${name}}`, encodeURIComponent(input.value.trim()));
    const query = new URLSearchParams();
    for (const [name, { input }] of inQuery) if (input.value.trim() !== "") query.set(name, input.value.trim());
    if (secretField) query.set("secret", secretField.input.value.trim());
    const answer = await call(
      method,
      query.size > 0 ? `${address}?${query}` : address,
      keyField !== undefined,
      bodyField?.input.value,
    );
    status.textContent = answer.status;
    shown.textContent = answer.text;
    shown.hidden = answer.text === "";
  });
  const fields = [
    keyField,
    secretField,
    ...inPath.map(([, each]) => each),
    ...inQuery.map(([, each]) => each),
    bodyField,
  ];
  return [...fields.flatMap((each) => each?.label ?? []), send, status, shown];
}

async function call(method: string, address: string, hasKey: boolean, body: string | undefined) {
  const headers: Record<string, string> = { ...(hasKey && { authorization: `Bearer ${key}` }) };
  if (body !== undefined && body.trim() !== "") headers["content-type"] = "application/json";
  try {
    const answer = await fetch(address, {
      method,
      headers,
      ...(body !== undefined && body.trim() !== "" && { body }),
      // The header is the only credential, and a redirect must not forward it.
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
      cache: "no-store",
    });
    const text = await answer.text();
    return { status: `${answer.status} · ${answer.headers.get("request-id") ?? ""}`, text: pretty(text) };
  } catch {
    return { status: "No response. Is the stack running?", text: "" };
  }
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function field(name: string, type: "text" | "password", value: string) {
  const input = document.createElement("input");
  input.type = type;
  input.value = value;
  input.autocomplete = "off";
  input.spellcheck = false;
  return { input, label: labelled(name, input) };
}

function textField(name: string, value: string) {
  const input = document.createElement("textarea");
  input.value = value;
  input.rows = Math.min(value.split("\n").length + 1, 14);
  input.spellcheck = false;
  return { input, label: labelled(name, input) };
}

function labelled(name: string, input: HTMLElement): HTMLElement {
  const label = document.createElement("label");
  const text = document.createElement("span");
  text.textContent = name;
  label.append(text, input);
  return label;
}

function pairsOf(json: string | undefined): (readonly [string, string])[] {
  const value: unknown = JSON.parse(json ?? "[]");
  return Array.isArray(value) ? value.map((pair) => [String(pair[0]), String(pair[1])] as const) : [];
}
