// Names in the server libraries, derived from paths and operationIds: GET /v1/payments/{id}, `getPayment`, is
// `payments.get(paymentId)`. Only exceptions are listed here.

/** Path segments whose resource has another name. */
const renamedParts: Readonly<Record<string, string>> = {
  webhooks: "webhookEndpoints",
  me: "merchant",
  profile: "merchant",
  branding: "merchant",
  requests: "apiRequests",
};

/** Short resource names in operationIds. */
const shortNouns: Readonly<Record<string, string>> = { webhookEndpoints: "Webhook" };

/** Operations with a clumsy derived name. */
const nicerNames: Readonly<Record<string, string>> = {
  createRefund: "refunds.create",
  retryFailedWebhookDeliveries: "webhookEndpoints.retryFailed",
  replayWebhookEvents: "webhookEndpoints.replay",
  listAuditEntries: "auditLog.list",
};

/** Leading path segments without a resource: `/v1/onboarding/applications` is about applications. */
const prefixes = new Set(["v1", "merchants", "onboarding"]);

/** Resource and method of an operation. */
export function memberNames(operationId: string, path: string): { resource: string; method: string } {
  const nicer = nicerNames[operationId];
  if (nicer !== undefined) {
    const [resource = "", method = ""] = nicer.split(".");
    return { resource, method };
  }
  const parts = path.split("/").filter((segment) => segment !== "" && !prefixes.has(segment));
  const own = parts.find((segment) => segment !== "me") ?? "me";
  const resource = resourceOf(own);
  const verb = /^[a-z]+/.exec(operationId)?.[0] ?? "";
  const rest = operationId.slice(verb.length);
  const noun = pascalCase(singular(resource));
  const known = [pascalCase(resource), noun, shortNouns[resource]].find((each) => each && rest.startsWith(each));
  return { resource, method: verb + rest.slice(known?.length ?? 0) };
}

/** `checkout-sessions` is the resource checkoutSessions. */
function resourceOf(segment: string): string {
  return renamedParts[segment] ?? camelCase(segment);
}

/** Path parameters named after their resource: `{id}` after payments is paymentId, `{delivery_id}` stays. */
export function pathNames(path: string): string[] {
  const parts = path.split("/");
  return parts.flatMap((segment, i) => {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name === undefined) return [];
    return name.includes("_") ? camelCase(name) : `${singular(resourceOf(parts[i - 1] ?? ""))}Id`;
  });
}

/** `checkout_session` and `checkout-session` become checkoutSession. */
export function camelCase(text: string): string {
  return text.replace(/[-_.](\w)/g, (_, letter: string) => letter.toUpperCase());
}

export function pascalCase(text: string): string {
  const name = camelCase(text);
  return name.charAt(0).toUpperCase() + name.slice(1);
}

export function snakeCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/[-.]/g, "_");
}

export function kebabCase(text: string): string {
  return snakeCase(text).replaceAll("_", "-");
}

function singular(text: string): string {
  return text.replace(/ies$/, "y").replace(/([^s])s$/, "$1");
}
