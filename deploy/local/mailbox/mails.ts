// Stores each received mail as a file, so it survives a restart.
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ParsedMail, simpleParser } from "mailparser";

export interface KeptMail {
  /** File name without its ending; sorts by time. */
  readonly id: string;
  readonly mail: ParsedMail;
}

export class Mails {
  readonly #dir: string;
  readonly #most: number;
  #ids: string[];
  #counter = 0;

  private constructor(dir: string, most: number, ids: string[]) {
    this.#dir = dir;
    this.#most = most;
    this.#ids = ids;
  }

  static async open(dir: string, most: number): Promise<Mails> {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const names = (await readdir(dir)).filter((name) => name.endsWith(".eml"));
    return new Mails(dir, most, names.map((name) => name.slice(0, -".eml".length)).sort());
  }

  async keep(source: Buffer): Promise<void> {
    const id = `${String(Date.now()).padStart(14, "0")}-${String(this.#counter++).padStart(6, "0")}`;
    const path = this.#pathOf(id);
    await writeFile(`${path}.part`, source, { mode: 0o600 });
    await rename(`${path}.part`, path);
    this.#ids.push(id);
    for (const old of this.#ids.splice(0, Math.max(0, this.#ids.length - this.#most))) await rm(this.#pathOf(old));
  }

  /** Newest first. */
  async list(most: number): Promise<KeptMail[]> {
    const newest = this.#ids.slice(-most).reverse();
    return await Promise.all(newest.map(async (id) => ({ id, mail: await this.#read(id) })));
  }

  async find(id: string): Promise<KeptMail | undefined> {
    return this.#ids.includes(id) ? { id, mail: await this.#read(id) } : undefined;
  }

  async #read(id: string): Promise<ParsedMail> {
    return await simpleParser(await readFile(this.#pathOf(id)));
  }

  #pathOf(id: string): string {
    return join(this.#dir, `${id}.eml`);
  }
}
