// `npm run listen -- --forward-to http://localhost:3000/hook [--events payment.succeeded,…]`: registers a webhook
// endpoint on the running local stack, forwards its deliveries to the address, prints each with its response, and
// removes the endpoint at the end.
import { nearestName } from "../../cli/nearest-name.ts";
import { endWithUsageError, parseOptions, printHelpIfRequested } from "../options.ts";
import { inspectProcess } from "../process/process-table.ts";
import { reasonOf, StartError } from "../start-error.ts";
import { type ForwardedEvent, startForwarder } from "./forward.ts";
import { listOf, openStack, type StackClient } from "./stack-client.ts";

const path = "/v1/merchants/me/webhooks";
const usage = `npm run listen -- --forward-to http://localhost:3000/hook [--events payment.succeeded,…]

Passes the webhooks of the running local stack on to the address, with their signatures, and prints each with its answer.

  --forward-to  an http or https address
  --events      types, separated by commas; default: all
  STATE_DIR     of the stack; default .local`;
/** Identifies our endpoints if a killed listener could not remove its own. */
const description = (pid: number) => `npm run listen, process ${pid}`;

interface ListenOptions {
  to: URL;
  /** Undefined: all types. */
  events: string[] | undefined;
}

function readArguments(): ListenOptions {
  const { values } = parseOptions({ options: { "forward-to": { type: "string" }, events: { type: "string" } } });
  const raw = values["forward-to"];
  if (raw === undefined) endWithUsageError(usage);
  const to = URL.parse(raw);
  if (!to || !["http:", "https:"].includes(to.protocol)) {
    endWithUsageError(`--forward-to must be an http or https URL\n${usage}`);
  }
  return { to, events: values.events?.split(",").map((type) => type.trim()) };
}

/** Runs until a stop is requested. */
async function listen(wanted: ListenOptions, stopping: AbortSignal): Promise<void> {
  const stack = await openStack(process.env);
  await removeLeftovers(stack);
  const catalogue = listOf(await stack.call("GET", "/v1/merchants/me/event-types")).map((type) => String(type.code));
  refuseUnknown(wanted.events ?? [], catalogue);
  const forwarder = await startForwarder(wanted.to, stack.tls, (delivery) => console.log(line(delivery)));
  let id = "";
  try {
    const endpoint = await stack.call("POST", path, {
      url: forwarder.url,
      event_types: wanted.events ?? catalogue,
      description: description(process.pid),
    });
    id = String(endpoint.id);
    console.log(`listening as ${id}; deliveries go to ${wanted.to}`);
    console.log(`signing secret: ${endpoint.signing_secret}`);
    console.log(`for Standard Webhooks libraries: ${endpoint.standard_secret}`);
    console.log("Ctrl-C ends it; npm run trigger -- payment.succeeded makes an event");
    if (!stopping.aborted) await new Promise((resolve) => stopping.addEventListener("abort", resolve, { once: true }));
  } finally {
    if (id !== "") await remove(stack, id);
    await forwarder.close();
  }
}

/** Exits because of an unknown type before anything is registered. */
function refuseUnknown(events: readonly string[], catalogue: readonly string[]): void {
  const unknown = events.filter((type) => !catalogue.includes(type));
  if (unknown.length === 0) return;
  const named = unknown.map((type) => `${type || "an empty name"} (did you mean ${nearestName(type, catalogue)})`);
  endWithUsageError(`--events: there is no type ${named.join(", ")}\nknown types: ${catalogue.join(", ")}`);
}

async function remove(stack: StackClient, id: string): Promise<void> {
  try {
    await stack.call("DELETE", `${path}/${id}`);
    console.log(`endpoint ${id} removed`);
  } catch (error) {
    console.error(`endpoint ${id} could not be removed (${reasonOf(error)}); the next listener removes it`);
  }
}

/** Removes endpoints of killed listeners. */
async function removeLeftovers(stack: StackClient): Promise<void> {
  for (const endpoint of listOf(await stack.call("GET", path))) {
    const pid = Number(/^npm run listen, process (\d+)$/.exec(String(endpoint.description))?.[1] ?? 0);
    if (pid > 0 && !inspectProcess(pid)) await remove(stack, String(endpoint.id));
  }
}

function line({ type, paymentId, status, problem, tookMs }: ForwardedEvent): string {
  const answer = problem === "" ? `${status} in ${Math.round(tookMs)} ms` : `not delivered: ${problem}`;
  return [new Date().toISOString().slice(11, 19), type, paymentId, "→", answer].filter((each) => each !== "").join(" ");
}

printHelpIfRequested(usage);
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "disconnect"]) process.on(signal, () => stopping.abort());
try {
  await listen(readArguments(), stopping.signal);
  process.exit(0);
} catch (error) {
  console.error(error instanceof StartError ? error.message : reasonOf(error));
  process.exit(1);
}
