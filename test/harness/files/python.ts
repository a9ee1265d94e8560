// Python for tests of the Python library; on a machine without Python they are skipped with a message.
import { execFile, execFileSync } from "node:child_process";
import { promisify } from "node:util";

/** The command; undefined where there is no Python 3.10 or newer. */
export const python = ["python3", "python"].find((name) => {
  try {
    const version = execFileSync(name, ["--version"], { stdio: "pipe", timeout: 5_000 }).toString();
    const [, minor = 0] = version.match(/^Python 3\.(\d+)/) ?? [];
    return Number(minor) >= 10;
  } catch {
    return false;
  }
});

const run = promisify(execFile);

/** A program's output. @param path folders of modules to import */
export async function runPython(
  words: readonly string[],
  {
    path = [],
    env = {},
    timeoutMs = 50_000,
  }: { path?: readonly string[]; env?: Record<string, string>; timeoutMs?: number },
): Promise<string> {
  if (python === undefined) throw new Error("there is no Python");
  const { stdout } = await run(python, [...words], {
    timeout: timeoutMs,
    env: { ...process.env, PYTHONPATH: path.join(":"), PYTHONDONTWRITEBYTECODE: "1", ...env },
  });
  return stdout;
}
