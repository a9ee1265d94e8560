// `npm run bench -- export`: the console's list of payments as a file (CSV), from a merchant with very many: rows a
// second from the click to the last line, processor time of a row, and what memory the processes come to meanwhile,
// beside the same columns read page after page by the bare driver.
import { readFile } from "node:fs/promises";
import { request } from "node:http";
import pg from "pg";
import { connectPeer } from "#platform/rpc/client.ts";
import { Door, PeopleService, SignInService } from "#proto/merchant/v1/people_pb.ts";
import { databaseUrlOf } from "../../deploy/local/databases.ts";
import { helpIfAsked, parseWords } from "../../deploy/local/options.ts";
import { rpcFilesIn } from "../../deploy/local/rpc-files.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { itemColumns } from "../../services/payments/store/payment-records.ts";
import { addPasskey, tokenOf } from "../flows/merchant/people-over-rpc.ts";
import { SoftwareAuthenticator } from "../harness/software-authenticator.ts";
import { onBenchStack } from "./bench-stack.ts";
import { loadPayments } from "./list-rows.ts";
import { watchOthers } from "./machine.ts";
import { cpuOf, residentMb } from "./usage.ts";

helpIfAsked(`npm run bench -- export [--rows N]

  --rows  payments of the merchant, 10000 to 50000000; default 1000000`);
const { values } = parseWords({ options: { rows: { type: "string", default: "1000000" } } });
const rows = Number(values.rows);
if (!(Number.isInteger(rows) && rows >= 10_000 && rows <= 50_000_000))
  throw new Error("--rows takes 10000 to 50000000");

const barePage = 2_000;
const measuredParts = ["console", "payments", "postgres"] as const;
const downloads = {
  "all payments": "",
  "those that failed (1 in 20)": "?status=failed",
  "part of an e-mail (1 in 100)": "?q=anna.b",
  "amounts within 1 % (1 in 700)": "?min=500&max=505&currency=EUR",
};

await onBenchStack(async (running, stateDir) => {
  const { stack } = running;
  await running.openConsoles();
  const client = new pg.Client(databaseUrlOf(stack.database, "payments"));
  await client.connect();
  try {
    const large = { merchantId: stack.merchant_id, share: 1 };
    await loadPayments(client, rows, (line) => console.log(line), large);
    const cookie = await signedInCookie(stack, stateDir);
    const bare = await barePages(client, stack.merchant_id);
    console.log(`\nthe same columns by the bare driver, pages of ${barePage}: ${Math.round(bare)} rows/s\n`);
    console.log(
      `| Download | Rows | MB | First bytes, ms | Rows/s | Of bare pages | CPU µs a row: ${measuredParts.join(" / ")} | Most memory, MB: console / payments (before) | Others took |`,
    );
    console.log("|---|---|---|---|---|---|---|---|---|");
    for (const [name, query] of Object.entries(downloads))
      console.log(await measure(running, cookie, name, query, bare));
  } finally {
    await client.end();
  }
});

/** Rows a second. */
async function barePages(client: pg.Client, merchantId: string): Promise<number> {
  const began = performance.now();
  let read = 0;
  let after = ["infinity", ""];
  for (let page = barePage; page === barePage; read += page) {
    const { rows: found } = await client.query({
      name: "page",
      text: `select ${itemColumns}, t.created_at::text as place from payments t where t.merchant_id = $1 and t.environment = 1
        and t.visible and t.created_at <= $2 and (t.created_at < $2 or t.id < $3) order by t.created_at desc, t.id desc limit ${barePage}`,
      values: [merchantId, ...after],
    });
    page = found.length;
    const last = found.at(-1);
    if (last) after = [last.place, last.id];
  }
  return (read * 1_000) / (performance.now() - began);
}

/** A line of the table. */
async function measure(
  { stack }: RunningStack,
  cookie: string,
  name: string,
  query: string,
  bare: number,
): Promise<string> {
  const memory = () => ({
    console: residentMb(stack.pids.console ?? 0),
    payments: residentMb(stack.pids.payments ?? 0),
  });
  const before = memory();
  const most = { ...before };
  const timer = setInterval(() => {
    const now = memory();
    most.console = Math.max(most.console, now.console);
    most.payments = Math.max(most.payments, now.payments);
  }, 100);
  const others = watchOthers(stack.pids);
  const cpuBefore = cpuOf(stack.pids);
  const began = performance.now();
  const got = await download(`${stack.console}/${stack.merchant_id}/sandbox/payments.csv${query}`, cookie);
  const seconds = (performance.now() - began) / 1_000;
  clearInterval(timer);
  const cpu = cpuOf(stack.pids);
  const each = measuredParts.map((part) => (((cpu[part] ?? 0) - (cpuBefore[part] ?? 0)) / got.rows).toFixed(1));
  const perSecond = got.rows / seconds;
  return `| ${[
    name,
    got.rows,
    (got.bytes / 1e6).toFixed(1),
    Math.round(got.firstMs),
    Math.round(perSecond),
    `${Math.round((perSecond / bare) * 100)} %`,
    each.join(" / "),
    `${most.console} / ${most.payments} (${before.console} / ${before.payments})`,
    `${Math.round(others() * 100)} %`,
  ].join(" | ")} |`;
}

/** @returns what came, without the line of the columns' names. @throws when the file breaks off */
async function download(url: string, cookie: string): Promise<{ rows: number; bytes: number; firstMs: number }> {
  const began = performance.now();
  return await new Promise((resolve, reject) => {
    const asked = request(url, { headers: { cookie, "sec-fetch-site": "same-origin" } }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`the file was answered with ${answer.statusCode}`));
      const firstMs = performance.now() - began;
      let [lines, bytes] = [0, 0];
      answer.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++;
      });
      answer.on("error", reject);
      answer.on("end", () => resolve({ rows: lines - 1, bytes, firstMs }));
    });
    asked.on("error", reject);
    asked.end();
  });
}

/** Of an owner who has come in by an invitation, as the console's own calls let them. */
async function signedInCookie(stack: StackInfo, stateDir: string): Promise<string> {
  const consoleToken = (await readFile(rpcFilesIn(stateDir).tokens.console, "utf8")).trim();
  const operator = connectPeer({ url: stack.rpc.merchant, token: stack.rpc_token });
  const byConsole = connectPeer({ url: stack.rpc.merchant, token: consoleToken });
  try {
    const invitation = { door: Door.MERCHANTS, merchantId: stack.merchant_id, email: "csv@example.com", role: "owner" };
    const { link } = await operator.client(PeopleService).inviteMember(invitation);
    const signIn = byConsole.client(SignInService);
    const { session } = await signIn.acceptInvitation({
      door: Door.MERCHANTS,
      token: tokenOf(link),
      name: "Robin Example",
      browser: { address: "127.0.0.1", agent: "bench" },
    });
    const passkey = new SoftwareAuthenticator(stack.console ?? "");
    return `tollbooth-merchants-session=${await addPasskey(signIn, session?.secret ?? "", passkey)}`;
  } finally {
    operator.close();
    byConsole.close();
  }
}
