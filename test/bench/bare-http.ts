// The limit of the HTTP edge: a POST to a Fastify that does nothing, in a process of its own.
import { fork } from "node:child_process";
import { Pool } from "undici";

export interface BareHttp {
  answer(body: string): Promise<void>;
  close(): Promise<void>;
}

export async function openBareHttp(): Promise<BareHttp> {
  const child = fork(new URL("./bare-fastify.ts", import.meta.url), { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const port = await new Promise<number>((resolve) => child.once("message", (message) => resolve(Number(message))));
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 64, pipelining: 1 });
  const headers = { "content-type": "application/json" };
  return {
    answer: async (body) => {
      const answer = await pool.request({ method: "POST", path: "/", headers, body });
      await answer.body.text();
    },
    close: async () => {
      await pool.close();
      child.disconnect();
    },
  };
}
