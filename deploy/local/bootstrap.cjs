// Makes a fresh clone runnable and then hands over: installs the locked packages when they are missing or outdated, finds a
// Node that runs TypeScript, and becomes `node <script> <args…>` in every way that matters (output, signals, exit code).
// Plain old JavaScript, because it must run, or explain itself, under whatever Node the machine has.
const { spawn, spawnSync } = require("node:child_process");
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const { countInstalled, showProgress } = require("./install-progress.cjs");

const root = path.resolve(__dirname, "../..");
const modules = path.join(root, "node_modules");
const stampFile = path.join(modules, ".tollbooth-stamp");
/** Held while packages are installed, so that `npm start` and `npm test` begun together install once. */
const lockDir = path.join(root, ".local-install");

const nodeOldestMajor = 20; // runs this file and npm
const nodeScriptMajor = 24; // strips types without a flag
const lockWaitSeconds = 600; // a first install over a slow line takes minutes, not more
const lockPollMs = 500;
const lockUnwrittenSeconds = 10; // between making the lock and writing the pid lie microseconds
const outputTailChars = 4000; // npm says why at the end
const parentPollMs = 500; // asking costs nothing; a stack that outlives its npm this long harms nobody
const forwarded = ["SIGINT", "SIGTERM", "SIGHUP"];

main().catch((error) => fail(error.message));

async function main() {
  if (major(process.versions.node) < nodeOldestMajor) {
    fail(`Tollbooth needs Node ${nodeOldestMajor} or newer to start; this is ${process.version} (${process.execPath})`);
  }
  const script = process.argv[2];
  if (!script) fail("usage: node deploy/local/bootstrap.cjs <script.ts> [arguments]");
  if (!installed()) await installOnce();
  run(findNode(), [path.resolve(root, script), ...process.argv.slice(3)]);
}

/** Ends with one clear line. */
function fail(message) {
  console.error(message);
  process.exit(1);
}

function major(version) {
  return Number(version.split(".")[0]);
}

/** The stamp names the lock file and the platform that the folder was filled for. */
function wantedStamp() {
  const lock = fs.readFileSync(path.join(root, "package-lock.json"));
  return `${createHash("sha256").update(lock).digest("hex")} ${process.platform}-${process.arch}\n`;
}

function installed() {
  if (readText(stampFile) === wantedStamp()) return true;
  if (!installedByHand()) return false;
  writeStamp();
  return true;
}

/** True after the user's own `npm install` or `npm ci`: npm's record of what it put there agrees with the lock file. */
function installedByHand() {
  const record = readText(path.join(modules, ".package-lock.json"));
  if (record === "") return false;
  const present = JSON.parse(record).packages;
  const wanted = JSON.parse(fs.readFileSync(path.join(root, "package-lock.json"), "utf8")).packages;
  return Object.keys(wanted).every((name) => {
    if (name === "") return true;
    if (!present[name]) return wanted[name].optional === true && !fitsThisMachine(wanted[name]);
    return present[name].version === wanted[name].version;
  });
}

/** Where npm puts the packages of this machine, from the project's root. */
function wantedFolders() {
  const wanted = JSON.parse(fs.readFileSync(path.join(root, "package-lock.json"), "utf8")).packages;
  return Object.keys(wanted).filter((name) => name !== "" && fitsThisMachine(wanted[name]));
}

function fitsThisMachine(entry) {
  return (
    (!entry.os || entry.os.includes(process.platform)) &&
    (!entry.cpu || entry.cpu.includes(process.arch)) &&
    (!entry.libc || entry.libc.includes(process.report.getReport().header.glibcVersionRuntime ? "glibc" : "musl"))
  );
}

function writeStamp() {
  try {
    fs.writeFileSync(stampFile, wantedStamp());
  } catch {
    // A folder of someone else's: it is checked the long way each time.
  }
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
    if (!installed()) await install();
  } finally {
    fs.rmSync(lockDir, { recursive: true, force: true });
  }
}

async function takeLock() {
  for (let waited = 0; waited < lockWaitSeconds * 1000; waited += lockPollMs) {
    try {
      fs.mkdirSync(lockDir);
      fs.writeFileSync(path.join(lockDir, "pid"), String(process.pid));
      return;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    if (lockIsStale()) {
      fs.rmSync(lockDir, { recursive: true, force: true });
      continue;
    }
    if (waited === 0) console.error("waiting for another Tollbooth command that is installing the packages");
    await new Promise((resolve) => setTimeout(resolve, lockPollMs));
  }
  fail(`another install did not end within ${lockWaitSeconds} s; if there is none, remove ${lockDir}`);
}

function lockIsStale() {
  const pid = Number(readText(path.join(lockDir, "pid")));
  if (pid > 0) return !exists(pid);
  const made = fs.statSync(lockDir, { throwIfNoEntry: false });
  return made !== undefined && Date.now() - made.mtimeMs > lockUnwrittenSeconds * 1000;
}

function exists(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** `npm ci`, with the development packages: PostgreSQL, the checker and the linter are among them. */
async function install() {
  const began = Date.now();
  console.error(
    "Packages are missing or have changed: they are installed once, which takes half a minute to two minutes.",
  );
  const cli = process.env.npm_execpath || "";
  const [command, first] = cli.endsWith("npm-cli.js") ? [process.execPath, [cli]] : ["npm", []];
  const child = spawn(command, [...first, "ci", "--include=dev", "--include=optional", "--no-progress"], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stopForwarding = forwardSignals(child);
  const folders = wantedFolders();
  const stopProgress = showProgress({
    out: process.stderr,
    total: folders.length,
    count: () => countInstalled(root, folders),
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data) => {
      output = (output + data).slice(-outputTailChars);
    });
  }
  const code = await new Promise((resolve) => {
    child.once("error", (error) => {
      output += error.message;
      resolve(1);
    });
    child.once("close", (exitCode) => resolve(exitCode));
  });
  stopForwarding();
  stopProgress();
  if (code !== 0) {
    fs.rmSync(lockDir, { recursive: true, force: true });
    fail(`${output.trim()}\nnpm ci failed (exit ${code}); the packages are not installed`);
  }
  writeStamp();
  console.error(`packages installed in ${((Date.now() - began) / 1000).toFixed(1)} s`);
}

/** The pinned Node that came with the packages, else the one that runs this file, if it is new enough. */
function findNode() {
  const pinned = path.join(modules, `node-${process.platform}-${process.arch}`, "bin", "node");
  if (fs.existsSync(pinned) && spawnSync(pinned, ["--version"]).status === 0) return pinned;
  if (major(process.versions.node) >= nodeScriptMajor) return process.execPath;
  return fail(
    `Tollbooth runs on Node ${nodeScriptMajor} or newer; this is ${process.version}, and there is no bundled Node for ` +
      `${process.platform}-${process.arch}: install Node ${nodeScriptMajor}`,
  );
}

/** Runs the script in this process's place. The IPC channel tells it when this process is gone, however it ended. */
function run(node, args) {
  const bin = path.join(modules, ".bin");
  const child = spawn(node, args, {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: {
      // What Node compiled is read again at the next start, which takes a third less.
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

/** npm runs scripts in a shell that passes no signal on: killing npm shows only as a new parent. */
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
