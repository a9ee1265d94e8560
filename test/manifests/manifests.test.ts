// Every rendered overlay: each object against the Kubernetes schemas and this project's rules, and each container's
// settings read by the code of its process.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync, symlinkSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join, matchesGlob } from "node:path";
import { parse } from "yaml";
import { readConfig } from "#platform/process/config.ts";
import { processSettings } from "#platform/process/process.ts";
import { readProductionConfig } from "#platform/service/production.ts";
import { releaseVersion } from "#platform/values/release.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { imagePrograms } from "../../deploy/bundle/programs.ts";
import { operatorSettings } from "../../deploy/cli/peers.ts";
import { migrateSettings } from "../../deploy/cli/setup/migrate-all.ts";
import { chapters } from "../../deploy/generate/docs/contents.ts";
import { outputs } from "../../deploy/generate/output.ts";
import { componentNames, environmentIn } from "../../deploy/one/parts.ts";
import { programEnvironment, settingPrefixOf } from "../../deploy/one/together.ts";
import { consoleSettings, readConsoleConfig } from "../../gateway/console/settings.ts";
import { gatewaySettings } from "../../gateway/settings.ts";
import { checkoutSettings } from "../../services/checkout/settings.ts";
import { merchantSettings, peopleSettings } from "../../services/merchant/settings.ts";
import { paymentsSettings, readPaymentsConfig } from "../../services/payments/settings.ts";
import { sources } from "../../services/services.ts";
import { readConfig as readSimulatorConfig } from "../../services/simulator/config.ts";
import { readWebhookConfig, webhookSettings } from "../../services/webhook/settings.ts";
import { alertRules } from "../harness/files/alert-rules.ts";
import { type KubeObject, schemaProblems } from "../harness/files/kube-schema.ts";
import {
  eachOverlay as eachRendered,
  generatedSecrets,
  hasKubectl,
  objectNamed,
  ofKind,
  overlays,
  renderOverlay,
  renderOverlayWith,
  renderWith,
  testRendered,
  workloads,
} from "../harness/files/overlays.ts";
import { reachableFiles, sourceFiles } from "../harness/files/source-files.ts";
import { environmentOfContainer, withMountedFiles } from "../harness/servers/container-environment.ts";
import { suite } from "../harness/suite.ts";
import { tempDir } from "../harness/temp-dir.ts";

const root = join(import.meta.dirname, "../..");
const test = suite("manifests", { timeoutMs: 120_000 });
const services = ["gateway", "console", ...sources];
const eachOverlay = (guarantee: string, body: Parameters<typeof eachRendered>[2]) =>
  eachRendered(test, guarantee, body);

const deployments = (objects: readonly KubeObject[]) =>
  ofKind(objects, "Deployment").filter(({ metadata }) => [...services, "one"].includes(metadata.name));
/** The deployment that contains a process, if all are parts of one. */
const deploymentOf = (objects: readonly KubeObject[], name: string) =>
  deployments(objects).find(({ metadata }) => [name, "one"].includes(metadata.name)) ?? assert.fail(name);
// biome-ignore lint/suspicious/noExplicitAny: manifests are data; the schemas have proved their shape.
const podOf = (workload: KubeObject): any => workload.spec.template.spec;

eachOverlay("every object fits its schema and has no field that the schema does not know", async (objects) => {
  const problems: string[] = [];
  for (const object of objects) problems.push(...(await schemaProblems(object)));
  assert.deepEqual(problems, []);
});

eachOverlay("every pod satisfies the restricted standard and has no cluster token", (objects) => {
  for (const workload of workloads(objects)) assertRestricted(workload);
  for (const account of ofKind(objects, "ServiceAccount")) assert.equal(account.automountServiceAccountToken, false);
});

function assertRestricted(workload: KubeObject): void {
  const pod = podOf(workload);
  const name = workload.metadata.name;
  assert.equal(pod.automountServiceAccountToken, false, name);
  assert.equal(pod.securityContext.runAsNonRoot, true, name);
  assert.equal(pod.securityContext.seccompProfile.type, "RuntimeDefault", name);
  assert.ok(!pod.hostNetwork && !pod.hostPID && !pod.hostIPC, name);
  for (const container of pod.containers) {
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    assert.equal(container.resources.limits.memory, container.resources.requests.memory, name);
    assert.ok(container.resources.requests.cpu && !container.resources.limits.cpu, name);
  }
}

// Our image has the build's tag; production's overlay needs the digest.
const byTag = /^registry\.example\.com\/tollbooth:\d+\.\d+\.\d+$/;
const ownImages = { local: /^tollbooth:local$/, small: byTag, staging: byTag };
const byDigest = /^[\w./-]+(:[\w][\w.-]*)?@sha256:[0-9a-f]{64}$/;

eachOverlay("third-party images have digests, and in production ours too", (objects, overlay) => {
  const ofPods = workloads(objects).flatMap((workload) => {
    const { containers, initContainers = [] } = podOf(workload);
    return [...containers, ...initContainers].map(({ image }: { image: string }) => image);
  });
  const images = [...ofPods, ...ofKind(objects, "Cluster").map(({ spec }) => spec.imageName)];
  const own = overlay === "production" ? byDigest : ownImages[overlay];
  assert.ok(images.some((image) => own.test(image)));
  assert.deepEqual(
    images.filter((image) => !own.test(image) && !byDigest.test(image)),
    [],
  );
});

test("compose runs the image of this release; third-party images there and in the Dockerfile have a digest and a tag", () => {
  const { services } = parse(readFileSync(join(root, "deploy/image/compose.yaml"), "utf8"), { merge: true });
  const composed: string[] = Object.values<{ image: string }>(services).map(({ image }) => image);
  const dockerfile = readFileSync(join(root, "deploy/image/Dockerfile"), "utf8");
  const built = [...dockerfile.matchAll(/^ARG \w+_IMAGE=(.+)$/gm)].map(([, image = ""]) => image);
  const stages = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
  assert.deepEqual([built.length, stages.filter((image) => image?.startsWith("${"))], [2, stages]);
  const named = [...composed.filter((image) => image !== `tollbooth:${releaseVersion()}`), ...built];
  assert.ok(named.length === 4);
  assert.deepEqual(
    named.filter((image) => !byDigest.test(image) || !/:[\w][\w.-]*@/.test(image)),
    [],
  );
});

eachOverlay("every deployment is probed, spread, stopped in time, budgeted and scaled", (objects, overlay) =>
  inFolder((folder) => {
    assert.deepEqual(
      deployments(objects)
        .map(({ metadata }) => metadata.name)
        .sort(),
      overlay === "small" ? ["one"] : [...services].sort(),
    );
    for (const deployment of deployments(objects)) {
      const { name } = deployment.metadata;
      const pod = podOf(deployment);
      const [container] = pod.containers;
      for (const probe of ["startupProbe", "readinessProbe", "livenessProbe"])
        assert.ok(container[probe], `${name} ${probe}`);
      const env = environmentOfContainer(objects, deployment, folder);
      const stopSeconds = Number(env.LAME_DUCK_SECONDS) + Number(env.DRAIN_SECONDS);
      assert.ok(pod.terminationGracePeriodSeconds > container.lifecycle.preStop.sleep.seconds + stopSeconds, name);
      assert.deepEqual(
        pod.topologySpreadConstraints.map((each: { topologyKey: string }) => each.topologyKey),
        ["topology.kubernetes.io/zone", "kubernetes.io/hostname"],
      );
      assert.deepEqual(deployment.spec.strategy.rollingUpdate, { maxSurge: 1, maxUnavailable: 0 });
      assert.match(env.NODE_OPTIONS ?? "", /--max-old-space-size-percentage=\d\d$/);
      const covers = (object: KubeObject) => object.metadata.name === name;
      assert.ok(ofKind(objects, "PodDisruptionBudget").some(covers), `${name} has no budget`);
      // A small component has fixed replicas; to scale, use separate processes.
      const scalers = ofKind(objects, "HorizontalPodAutoscaler", "ScaledObject").filter(covers);
      assert.equal(scalers.length, name === "one" ? 0 : 1, `${name} scaling`);
      for (const served of name === "one" ? services : [name]) assertServed(objects, deployment, served);
    }
  }),
);

/** The Service of that name selects the deployment's pods, with a port that they have. */
function assertServed(objects: readonly KubeObject[], deployment: KubeObject, name: string): void {
  const service = objectNamed(objects, "Service", name);
  assert.deepEqual(service.spec.selector, deployment.spec.selector.matchLabels, name);
  const ports: { name: string }[] = podOf(deployment).containers[0].ports;
  assert.ok(
    ports.some((port) => port.name === service.spec.ports[0].targetPort),
    name,
  );
}

eachOverlay(
  "every container has exactly the settings of its process, and production accepts them",
  (objects, overlay) =>
    inFolder((folder) => {
      for (const workload of workloads(objects)) {
        const program = podOf(workload).containers[0].args?.[0];
        if (program in settingsOf) readsAll(program, environmentOfContainer(objects, workload, folder), overlay);
        if (program === "one") readsParts(environmentOfContainer(objects, workload, folder), overlay);
      }
    }),
);

eachOverlay(
  "in the mesh, services accept only its members' calls; the gateway and the consoles accept calls from outside",
  (objects) => {
    for (const workload of deployments(objects)) {
      const { annotations } = workload.spec.template.metadata;
      if (annotations?.["linkerd.io/inject"] !== "enabled") continue;
      const { name } = workload.metadata;
      const wanted = ["gateway", "console"].includes(name) ? undefined : "all-authenticated";
      assert.equal(annotations["config.linkerd.io/default-inbound-policy"], wanted, name);
      const ports: { name: string; containerPort: number }[] = podOf(workload).containers[0].ports;
      const admin = ports.find((port) => port.name === "admin")?.containerPort;
      assert.equal(annotations["config.linkerd.io/skip-inbound-ports"], String(admin), name);
    }
  },
);

test("compose.yaml: every container has exactly the settings of its process, and production accepts them", () =>
  inFolder((folder) => {
    const compose = parse(readFileSync(join(root, "deploy/image/compose.yaml"), "utf8"), { merge: true });
    for (const name of [...Object.keys(settingsOf), "operators-console"]) {
      const container = compose.services[name];
      const program = name === "operators-console" ? "console" : name;
      assert.deepEqual([container.read_only, container.cap_drop, container.command], [true, ["ALL"], [program]]);
      const plain = Object.entries(container.environment).map(([name, value]) => [name, String(value)]);
      readsAll(program, withMountedFiles(Object.fromEntries(plain), folder), "compose");
    }
  }));

test("compose-small.yaml: every part has exactly its settings, and production accepts them", () =>
  inFolder((folder) => {
    const compose = parse(readFileSync(join(root, "deploy/image/compose-small.yaml"), "utf8"), { merge: true });
    const { environment, ...container } = compose.services.one;
    assert.deepEqual([container.read_only, container.cap_drop, container.command], [true, ["ALL"], ["one"]]);
    const plain = Object.entries(environment).map(([name, value]) => [name, String(value)]);
    readsParts(withMountedFiles(Object.fromEntries(plain), folder), "compose-small");
  }));

/** Reads the environment of a process of several parts as each part does. */
function readsParts(env: Record<string, string>, where: string): void {
  const parts = componentNames.filter((name) => env.PARTS?.split(", ").includes(name));
  assert.ok(parts.length > 5);
  const isOf = (name: string, program: string) =>
    [name, name.replace(/_FILE$/, "")].some((each) => each in (settingsOf[program] ?? {}));
  const environmentFor = environmentIn(parts, env);
  for (const part of parts) {
    const program = part === "operators-console" ? "console" : part;
    // A setting for all parts need not exist in each.
    const mine = Object.entries(environmentFor(part)).filter(
      ([name]) => isOf(name, program) || `${settingPrefixOf(part)}${name}` in env,
    );
    readsAll(program, definedOnly(mine), `${where} ${part}`);
  }
  const forAll = Object.keys(env).filter((name) => !name.includes("__") && name !== "PARTS");
  const unknown = forAll.filter((name) => !parts.some((part) => isOf(name, part)) && !readByLibraries.test(name));
  assert.deepEqual(unknown, [], where);
}

const definedOnly = (entries: readonly (readonly [string, string | undefined])[]): Record<string, string> =>
  Object.fromEntries(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));

async function inFolder(work: (folder: string) => void): Promise<void> {
  const folder = await tempDir("mounted");
  try {
    work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Reads the environment as the process does. */
function readsAll(program: string, env: Record<string, string>, where: string): void {
  const settings = settingsOf[program] ?? {};
  const unknown = Object.keys(env).filter((name) => !(name in settings) && !(name.replace(/_FILE$/, "") in settings));
  assert.deepEqual(
    unknown.filter((name) => !readByLibraries.test(name)),
    [],
    `${where} ${program}`,
  );
  if (program === "simulator") readSimulatorConfig(env);
  else if (program === "webhook") readWebhookConfig(env);
  else if (program.endsWith("console")) readConsoleConfig(env);
  else if (program === "payments") readPaymentsConfig(env);
  else readProductionConfig(settings, env);
}

/** Including names in OTEL_RESOURCE_ATTRIBUTES. */
const readByLibraries = /^(NODE_OPTIONS|NODE_ENV|NODE_EXTRA_CA_CERTS|OTEL_[A-Z_]+|POD_NAME|POD_NAMESPACE|NODE_NAME)$/;
const simulatorNames =
  "PORT HOST LOG_LEVEL DATABASE_URL PUBLIC_URL SIMULATOR_SECRET_KEY SIMULATOR_WEBHOOK_SECRET SIMULATOR_WEBHOOK_URL SIMULATOR_DELAY_MS SIMULATOR_AUTHORIZATION_SECONDS SIMULATOR_TEST_CONTROLS";
const settingsOf: Readonly<Record<string, Parameters<typeof readConfig>[0]>> = {
  gateway: { ...gatewaySettings, ...processSettings },
  console: { ...consoleSettings, ...processSettings },
  checkout: { ...checkoutSettings, ...processSettings },
  payments: { ...paymentsSettings, ...processSettings },
  merchant: { ...merchantSettings, ...peopleSettings, ...processSettings },
  webhook: { ...webhookSettings, ...processSettings },
  migrate: migrateSettings,
  simulator: Object.fromEntries(simulatorNames.split(" ").map((name) => [name, { parse: (raw: string) => raw }])),
};

for (const overlay of ["small", "staging", "production"] as const) {
  testRendered(
    test,
    `${overlay}: the operator's pod waits for commands, with only the operator's token, and accepts no calls`,
    () =>
      inFolder((folder) => {
        const objects = renderOverlay(overlay);
        const waiting: KubeObject = objectNamed(objects, "Deployment", "operator");
        const { volumes, containers } = podOf(waiting);
        assert.deepEqual([waiting.spec.replicas, containers[0].args, containers[0].ports], [1, ["idle"], undefined]);
        assert.deepEqual(
          secretsOf(volumes).map(({ secretName }) => secretName),
          ["rpc-token-operator"],
        );
        const env = environmentOfContainer(objects, waiting, folder);
        readConfig(operatorSettings, env);
        const own = Object.keys(env).filter((name) => !readByLibraries.test(name));
        const required = Object.entries(operatorSettings).filter(([, setting]) => !("optional" in setting));
        assert.deepEqual(own.sort(), required.map(([name]) => name).sort());
        // The replicas' own addresses, of an existing Service.
        for (const name of ["CHECKOUT_URL", "PAYMENTS_URL", "MERCHANT_URL", "WEBHOOK_URL"]) {
          const { hostname, port } = new URL(env[name] ?? "");
          const { clusterIP, ports } = objectNamed(objects, "Service", hostname).spec;
          assert.deepEqual([clusterIP, String(ports[0].port)], ["None", port], name);
        }
        const serving = ofKind(objects, "Service").filter(
          ({ spec }) => spec.selector?.["app.kubernetes.io/name"] === "operator",
        );
        assert.deepEqual(serving, []);
      }),
  );
}

test("the image's command runs by name from any folder, and waits until it is stopped", async () => {
  const dockerfile = readFileSync(join(root, "deploy/image/Dockerfile"), "utf8");
  const entry = readFileSync(join(root, "deploy/image/main.ts"), "utf8");
  const [, node = ""] = /^COPY --from=build \/usr\/local\/bin\/node (\S+)$/m.exec(dockerfile) ?? [];
  assert.ok(entry.startsWith(`#!${node}\n`), "who starts the file");
  assert.match(dockerfile, /^ && mkdir \/commands && ln -s \/app\/deploy\/image\/main\.ts \/commands\/tollbooth$/m);
  assert.match(dockerfile, /^COPY --from=build --chown=0:0 \/commands\/ \/usr\/local\/bin\/$/m);
  await inFolder((folder) => {
    const command = join(folder, "tollbooth");
    symlinkSync(join(root, "deploy/image/main.ts"), command);
    const run = { cwd: folder, encoding: "utf8", timeout: 30_000 } as const;
    const help = execFileSync(process.execPath, [command, "--help"], run);
    assert.match(help, /^ {2}deliveries +show, list, retry/m);
    assert.match(help, /`tollbooth` in a container/);
  });
  const waiting = spawn(process.execPath, [join(root, "deploy/image/main.ts"), "idle"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(waiting.stdout, "data");
  assert.match(String(line), /^waiting for commands: /);
  waiting.kill("SIGTERM");
  assert.deepEqual(await once(waiting, "exit"), [0, null]);
});

eachOverlay(
  "X-Forwarded-For is believed by a number of proxies, never by a network that callers may be in",
  (objects, overlay) =>
    inFolder((folder) => {
      for (const name of ["gateway", "console"]) {
        const deployment = deploymentOf(objects, name);
        const { TRUST_PROXY } = programEnvironment(name, environmentOfContainer(objects, deployment, folder));
        if (overlay === "local") assert.equal(TRUST_PROXY, undefined);
        else assert.match(TRUST_PROXY ?? "", /^[1-9]$/);
      }
    }),
);

eachOverlay("console and merchant have the same origin for passkeys", (objects) => {
  const originOf = (map: string) => dataOf(objects, map).CONSOLE_ORIGIN;
  assert.match(originOf("tollbooth-console") ?? "", /^https?:/);
  assert.equal(originOf("tollbooth-console"), originOf("tollbooth-merchant"));
  assert.equal(dataOf(objects, "tollbooth-merchant").OPERATORS_CONSOLE_ORIGIN, undefined, "its door is closed");
});

testRendered(
  test,
  "the operators' console is a component with its own origin and token, restricted, with valid settings",
  async () => {
    const objects = renderOverlayWith("production", "operators-console");
    for (const object of objects) assert.deepEqual(await schemaProblems(object), []);
    const deployment: KubeObject = objectNamed(objects, "Deployment", "operators-console");
    const pod = podOf(deployment);
    assertRestricted(deployment);
    assert.deepEqual(
      secretsOf(pod.volumes).map(({ secretName }) => secretName),
      ["rpc-token-operators-console"],
    );
    const [container] = pod.containers;
    assert.deepEqual([container.args, byDigest.test(container.image)], [["console"], true]);
    await inFolder((folder) => {
      const env = environmentOfContainer(objects, deployment, folder);
      readsAll("console", env, "operators-console");
      assert.equal(env.CONSOLE_DOOR, "operators");
      assert.equal(env.TRUST_PROXY, "1", "its internal Gateway is the one proxy in front");
      assert.equal(env.CONSOLE_ORIGIN, dataOf(objects, "tollbooth-merchant").OPERATORS_CONSOLE_ORIGIN);
      assert.notEqual(env.CONSOLE_ORIGIN, dataOf(objects, "tollbooth-console").CONSOLE_ORIGIN);
      const stop = Number(env.LAME_DUCK_SECONDS) + Number(env.DRAIN_SECONDS);
      assert.ok(pod.terminationGracePeriodSeconds > container.lifecycle.preStop.sleep.seconds + stop);
    });
    const stored = ofKind(objects, "ExternalSecret").map(({ metadata }) => metadata.name);
    assert.ok(stored.includes("rpc-token-operators-console"));
  },
);

testRendered(
  test,
  "the components mail and company sign-in give their settings to their processes, secrets as files",
  async () => {
    const objects = await renderWith("overlays/production", ["operators-console", "mail", "company-sign-in"]);
    for (const object of objects) assert.deepEqual(await schemaProblems(object), []);
    await inFolder((folder) => {
      const read = (name: string) => {
        const deployment: KubeObject = objectNamed(objects, "Deployment", name);
        const env = environmentOfContainer(objects, deployment, folder);
        readsAll(name === "merchant" ? "merchant" : "console", env, name);
        return env;
      };
      const merchant = read("merchant");
      assert.deepEqual([typeof merchant.SMTP_URL_FILE, typeof merchant.MAIL_FROM], ["string", "string"]);
      for (const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET_FILE } of [
        read("console"),
        read("operators-console"),
      ]) {
        assert.deepEqual([OIDC_ISSUER, OIDC_CLIENT_ID], [merchant.OIDC_ISSUER, merchant.OIDC_CLIENT_ID]);
        assert.ok(OIDC_CLIENT_SECRET_FILE);
      }
    });
  },
);

testRendered(
  test,
  "the component archive gives checkout and payments the place and the key of the archive",
  async () => {
    const objects = await renderWith("overlays/production", ["archive"]);
    for (const object of objects) assert.deepEqual(await schemaProblems(object), []);
    await inFolder((folder) => {
      for (const name of ["checkout", "payments"] as const) {
        const env = environmentOfContainer(objects, objectNamed(objects, "Deployment", name), folder);
        readsAll(name, env, name);
        assert.deepEqual([typeof env.ARCHIVE_URL, typeof env.ARCHIVE_KEY_FILE], ["string", "string"]);
      }
    });
  },
);

testRendered(test, "the component verify admits the image of an overlay only by the release key", async () => {
  const objects = renderOverlayWith("production", "verify");
  const policy: KubeObject = objectNamed(objects, "ClusterImagePolicy", "tollbooth");
  assert.deepEqual(await schemaProblems(policy), []);
  assert.equal(policy.spec.mode, "enforce");
  const [{ key, ...others }] = policy.spec.authorities;
  assert.deepEqual([policy.spec.authorities.length, others], [1, { name: "release-key" }]);
  assert.match(key.data, /^-----BEGIN PUBLIC KEY-----\n/);
  // The controller watches namespaces with this label; one star covers a name's end, its tag and its digest.
  assert.equal(
    membersOf(objectNamed(objects, "Namespace", "tollbooth").metadata.labels)["policy.sigstore.dev/include"],
    "true",
  );
  const [{ glob }] = policy.spec.images;
  const images = workloads(objects).flatMap((workload) =>
    podOf(workload).containers.map(({ image }: { image: string }) => image),
  );
  const own = images.filter(
    (image) => image.startsWith(glob.replace("*", "")) && !image.slice(glob.length).includes("/"),
  );
  assert.deepEqual(
    own,
    images.filter((image) => image.includes("/tollbooth@")),
  );
  assert.ok(own.length >= 8);
});

testRendered(test, "no overlay has the operators' console from the start", () => {
  for (const overlay of overlays) {
    const names = renderOverlay(overlay).map(({ metadata }) => metadata.name);
    assert.ok(!names.some((name) => name.includes("operators-console") && !name.startsWith("rpc-token")), overlay);
  }
});

const dataOf = (objects: readonly KubeObject[], name: string): Record<string, string> =>
  objectNamed(objects, "ConfigMap", name).data;

eachOverlay("services and migrate create streams with one replica per server", (objects) => {
  const [servers] = ofKind(objects, "StatefulSet").filter(({ metadata }) => metadata.name === "nats");
  const copies = ["tollbooth-services", "tollbooth-migrate"].map((name) => dataOf(objects, name).NATS_REPLICAS);
  const wanted = String(servers?.spec.replicas);
  assert.deepEqual(copies, [wanted, wanted]);
});

eachOverlay("services and migrate set the same stream limit, and the servers have room for four streams", (objects) => {
  const [room, migrates] = ["tollbooth-services", "tollbooth-migrate"].map(
    (name) => dataOf(objects, name).NATS_STREAM_GIB,
  );
  assert.equal(room, migrates);
  const [servers] = ofKind(objects, "StatefulSet").filter(({ metadata }) => metadata.name === "nats");
  if (!servers) return;
  const store = Number(/max_file_store: (\d+)Gi/.exec(dataOf(objects, "nats")["nats.conf"] ?? "")?.[1]);
  const volume = Number(/"storage":"(\d+)Gi"/.exec(JSON.stringify(servers.spec.volumeClaimTemplates))?.[1]);
  assert.ok(4 * Number(room) <= store && store < volume, `4 × ${room} GiB, ${store} of ${volume} GiB`);
});

eachOverlay("monitored overlays have alerts and dashboards", (objects, overlay) => {
  const rules = ofKind(objects, "PrometheusRule");
  const dashboards = objects.find(({ metadata }) => metadata.name === "grafana-dashboards");
  assert.equal(rules.length, ofKind(objects, "PodMonitor").length, overlay);
  if (rules.length === 0) return;
  // An overlay prepends the address of this project's files to an alert's runbook.
  const files = String(membersOf(rules[0]?.metadata.annotations).files);
  assert.match(files, /^https:/);
  for (const { metadata, spec } of rules) {
    const text = alertRules(metadata.name === "tollbooth" ? "tollbooth" : "tollbooth-servers");
    assert.deepEqual(spec, parse(text.replaceAll("runbook_url: deploy/", `runbook_url: ${files}/`)));
  }
  for (const { metadata } of [...rules, ...ofKind(objects, "PodMonitor")]) {
    assert.equal(membersOf(metadata.labels).release, "kube-prometheus-stack", metadata.name);
  }
  const pictures = globSync("deploy/kubernetes/dashboards/*.json", { cwd: root });
  assert.deepEqual(
    dashboards?.data,
    Object.fromEntries(pictures.map((file) => [basename(file), readFileSync(join(root, file), "utf8")])),
  );
  assert.deepEqual(dashboards?.metadata.labels, { "app.kubernetes.io/part-of": "tollbooth", grafana_dashboard: "1" });
});

eachOverlay("config maps have a hash of their content, and no object contains a secret", (objects) => {
  for (const { metadata } of ofKind(objects, "ConfigMap").filter((map) => map.metadata.name.startsWith("tollbooth-"))) {
    assert.match(metadata.name, /-[a-z0-9]{10}$/);
  }
  assert.deepEqual(ofKind(objects, "Secret"), []);
});

test("the image contains every file that its programs import and its pages are built from", () => {
  const built = [outputs.web, outputs.docs].map(({ script }) => script);
  const programs = [...imagePrograms, "deploy/image/main.ts", "deploy/bundle/main.ts", ...built];
  const guides = chapters.flatMap((chapter) => chapter.guides.map(({ source }) => source));
  const needed = [...reachableFiles(sourceFiles(root), programs), ...guides];
  const rules = readFileSync(join(root, ".dockerignore"), "utf8")
    .split("\n")
    .filter((line) => line && line[0] !== "#");
  // As builders read it: the last rule that matches the file or a parent folder decides.
  const isIn = (file: string) => {
    const named = rules.filter((rule) => covers(rule.replace("!", ""), file));
    return named.at(-1)?.startsWith("!") ?? true;
  };
  assert.deepEqual(
    needed.filter((file) => !isIn(file)),
    [],
  );
});

function covers(pattern: string, file: string): boolean {
  const parts = file.split("/");
  return parts.some((_, index) => matchesGlob(parts.slice(0, index + 1).join("/"), pattern));
}

eachOverlay("migrate grants to roles that services log in as, which own no database", (objects) => {
  assert.equal(dataOf(objects, "tollbooth-migrate").SERVICE_ROLES, "{service}_service");
  const roles = sources.map((service) => `${service}_service`);
  for (const cluster of ofKind(objects, "Cluster")) {
    const names = cluster.spec.managed.roles.map((role: { name: string }) => role.name);
    assert.deepEqual(
      roles.filter((role) => !names.includes(role)),
      [],
    );
  }
  for (const { spec } of ofKind(objects, "Database")) assert.ok(!roles.includes(spec.owner), spec.name);
  const made = ofKind(objects, "ConfigMap").find(({ data }) => data["databases.sql"]);
  for (const role of made ? roles : []) assert.ok(made?.data["databases.sql"].includes(`create role ${role} login`));
});

test("the secrets command creates every Secret of production, with a password per database role", () => {
  const at = "@postgres-rw:5432/tollbooth_{service}?sslmode=verify-full";
  const [services, owners] = [`postgres://{service}_service:{password}${at}`, `postgres://{service}:{password}${at}`];
  const made = generatedSecrets(services, owners);
  const of = (name: string) => ({ type: made.get(name)?.type, stringData: made.get(name)?.stringData ?? {} });
  const passwords = sources.flatMap((role) => {
    const logins = [
      {
        name: `postgres-${role}-service`,
        url: of(`tollbooth-${role}`).stringData.DATABASE_URL,
        user: `${role}_service`,
      },
      {
        name: `postgres-${role}`,
        url: of("tollbooth-migrate").stringData[`${role.toUpperCase()}_DATABASE_URL`],
        user: role,
      },
    ];
    return logins.map(({ name, url, user }) => {
      const { username, password } = of(name).stringData;
      assert.equal(of(name).type, "kubernetes.io/basic-auth");
      assert.deepEqual([new URL(url).username, new URL(url).password, user], [username, password, username]);
      return password;
    });
  });
  assert.equal(new Set(passwords).size, 8);
  if (!hasKubectl) return console.log("  not run: what production mounts (no kubectl here)");
  const production = renderOverlay("production");
  const mounted = workloads(production).flatMap((workload) =>
    (podOf(workload).volumes ?? []).flatMap(
      (volume: { secret?: { secretName: string } }) => volume.secret?.secretName ?? [],
    ),
  );
  const roles = ofKind(production, "Cluster")[0]?.spec.managed.roles;
  const all = [...mounted, ...roles.map((role: { passwordSecret: { name: string } }) => role.passwordSecret.name)];
  // The operator's own Secret.
  const wanted = all.filter((name) => name !== "postgres-ca");
  assert.deepEqual(
    wanted.filter((name) => !made.has(name)),
    [],
  );
  const stored = ofKind(production, "ExternalSecret").map(({ metadata }) => metadata.name);
  assert.deepEqual(
    wanted.filter((name) => !stored.includes(name)),
    [],
    "the store gives them too",
  );
});

testRendered(test, "the secrets command creates every Secret of overlays without a store", () => {
  const at = "@postgres:5432/tollbooth_{service}?sslmode=verify-full&sslrootcert=/run/secrets/postgres-ca/ca.crt";
  const [services, owners] = [`postgres://{service}_service:{password}${at}`, `postgres://postgres:{password}${at}`];
  const made = generatedSecrets(services, owners);
  const pods = [...workloads(renderOverlay("local")), ...workloads(renderOverlay("small"))];
  const missing = pods.flatMap((workload) =>
    secretsOf(podOf(workload).volumes).filter(({ secretName, items: picked = [] }) => {
      const has = made.get(secretName)?.stringData;
      return !has || picked.some(({ key }) => !(key in has));
    }),
  );
  assert.deepEqual(missing, []);
});

interface MountedSecret {
  readonly secretName: string;
  readonly items?: readonly { key: string }[];
}

function secretsOf(
  volumes: readonly { secret?: MountedSecret; projected?: { sources: { secret: { name: string } }[] } }[] = [],
): MountedSecret[] {
  return volumes.flatMap(({ secret, projected }) => [
    ...(secret ? [secret] : []),
    ...(projected?.sources ?? []).map(({ secret: { name, ...rest } }) => ({ secretName: name, ...rest })),
  ]);
}

eachOverlay("clients of a server in the cluster mount its authority's certificate and no key", (objects) => {
  if (!ofKind(objects, "Cluster", "StatefulSet").some(({ metadata }) => metadata.name === "postgres")) return;
  const clients = workloads(objects).filter((workload) => {
    const { envFrom = [] } = podOf(workload).containers[0];
    const maps: string[] = envFrom.flatMap(
      (each: { configMapRef?: { name: string } }) => each.configMapRef?.name ?? [],
    );
    const configMaps = ofKind(objects, "ConfigMap").filter(({ metadata }) => maps.includes(metadata.name));
    return configMaps.some(({ data }) => Object.keys(data).some((name) => name.endsWith("DATABASE_URL_FILE")));
  });
  assert.ok(clients.length >= 5 || clients.some(({ metadata }) => metadata.name === "one"));
  for (const client of clients) {
    const { containers, volumes } = podOf(client);
    const mounts: { name: string; mountPath: string }[] = containers[0].volumeMounts;
    const mount = mounts.find(({ mountPath }) => mountPath === "/run/secrets/postgres-ca");
    const volume = volumes.find(({ name }: { name: string }) => name === mount?.name);
    assert.deepEqual(volume?.secret.items, [{ key: "ca.crt", path: "ca.crt" }], client.metadata.name);
  }
});

test("no file of deploy/ contains a secret", () => {
  const files = globSync("deploy/**/*.{yaml,env,sql,md}", { cwd: root });
  assert.ok(files.length > 20);
  for (const file of files) {
    const text = readFileSync(join(root, file), "utf8");
    assert.doesNotMatch(text, /(PASSWORD|SECRET_KEY|HASH_KEY|ENCRYPTION_KEYS|token)=[^$\s/]/i, file);
    assert.doesNotMatch(text, /postgres(ql)?:\/\/[^:\s]+:[^{$\s@]+@/, file);
  }
});

test.run();
