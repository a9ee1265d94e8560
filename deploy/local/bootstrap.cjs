// Prepares a fresh clone and then runs a script: installs missing or outdated packages, finds a Node that runs
// TypeScript, and runs `node <script> <args…>` with the same output, signals and exit code. Plain old JavaScript, since
// it must run or print an error on any Node version.
const { spawn, spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const root = path.resolve(__dirname, "../..");
const modules = path.join(root, "node_modules");
/** Held during an installation, so parallel `npm start` and `npm test` install once. */
const lockFile = path.join(root, ".local-install");

const nodeOldestMajor = 20; // runs this file and npm
const nodeScriptMajor = 24; // strips types without a flag
const lockPollMs = 500;
const parentPollMs = 500; // a stack may outlive its npm by this time
const forwarded = ["SIGINT", "SIGTERM", "SIGHUP"];

main().catch((error) => fail(error.message));

async function main() {
  if (major(process.versions.node) < nodeOldestMajor) {
    fail(`Tollbooth needs Node ${nodeOldestMajor} or newer to start; this is ${process.version} (${process.execPath})`);
  }
  const script = process.argv[2];
  if (!script) fail("usage: node deploy/local/bootstrap.cjs <script.ts> [arguments]");
  if (!isInstalled()) await installOnce();
  run(findNode(), [path.resolve(root, script), ...process.argv.slice(3)]);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

function major(version) {
  return Number(version.split(".")[0]);
}

/** Compares npm's record of installed packages with the lock file. Packages of other platforms may be missing. */
function isInstalled() {
  const record = readText(path.join(modules, ".package-lock.json"));
  if (record === "") return false;
  const present = JSON.parse(record).packages;
  const wanted = JSON.parse(readText(path.join(root, "package-lock.json"))).packages;
  return Object.entries(wanted).every(([name, { version, optional }]) => {
    if (name === "" || present[name]?.version === version) return true;
    return !present[name] && optional && !name.endsWith(`${process.platform}-${process.arch}`);
  });
}

function readText(file) {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

async function installOnce() {
  await takeLock();
  try {
    if (!isInstalled()) await install();
  } finally {
    fs.rmSync(lockFile, { force: true });
  }
}

async function takeLock() {
  for (let polls = 0; ; polls++) {
    try {
      return fs.writeFileSync(lockFile, String(process.pid), { flag: "wx" });
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const holder = Number(readText(lockFile));
    if (holder > 0 && !isAlive(holder)) fs.rmSync(lockFile, { force: true });
    if (polls === 0) console.error(`waiting for another command that installs the packages (${lockFile})`);
    await new Promise((resolve) => setTimeout(resolve, lockPollMs));
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** `npm ci` with development packages, which include PostgreSQL. */
async function install() {
  console.error("Installing packages, which are missing or outdated; this takes half a minute to two minutes.");
  const cli = process.env.npm_execpath || "";
  const [command, first] = cli.endsWith("npm-cli.js") ? [process.execPath, [cli]] : ["npm", []];
  // Standard output belongs to the script.
  const words = [...first, "ci", "--include=dev", "--include=optional"];
  const child = spawn(command, words, { cwd: root, stdio: ["ignore", process.stderr, process.stderr] });
  const stopForwarding = forwardSignals(child);
  const code = await new Promise((resolve) => {
    child.once("error", resolve);
    child.once("close", resolve);
  });
  stopForwarding();
  if (code !== 0) throw new Error(`npm ci failed (${code}); the packages are not installed`);
}

/** The pinned Node from the packages, else the running one if it is new enough. */
function findNode() {
  const pinned = path.join(modules, `node-${process.platform}-${process.arch}`, "bin", "node");
  if (fs.existsSync(pinned) && spawnSync(pinned, ["--version"]).status === 0) return pinned;
  if (major(process.versions.node) >= nodeScriptMajor) return process.execPath;
  return fail(
    `Tollbooth runs on Node ${nodeScriptMajor} or newer; this is ${process.version}, and there is no bundled Node for ` +
      `${process.platform}-${process.arch}: install Node ${nodeScriptMajor}`,
  );
}

/** Runs the script in place of this process. Its IPC channel closes when this process ends, also after kill -9. */
function run(node, args) {
  const bin = path.join(modules, ".bin");
  const child = spawn(node, args, {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: {
      // Node's compile cache saves a third of the next start.
      NODE_COMPILE_CACHE: path.join(root, ".local-cache/compiled"),
      ...process.env,
      PATH: [bin, path.dirname(node), process.env.PATH].join(path.delimiter),
    },
  });
  const stopForwarding = forwardSignals(child);
  stopWithNpm(child);
  child.once("error", (error) => fail(`cannot run ${node}: ${error.message}`));
  child.once("exit", (code, signal) => {
    stopForwarding();
    if (signal) process.kill(process.pid, signal);
    else process.exit(code);
  });
}

/** npm runs scripts in a shell that passes no signals on: a killed npm shows only as a new parent. */
function stopWithNpm(child) {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    child.kill("SIGTERM");
  }, parentPollMs);
}

function forwardSignals(child) {
  const handlers = forwarded.map((signal) => [signal, () => child.kill(signal)]);
  for (const [signal, handler] of handlers) process.on(signal, handler);
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  };
}
