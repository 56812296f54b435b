// @module-tag long
/** `podman play kube` as a stand-in for a cluster: it runs the pods of the overlay `local`, the host's with its agent. */
import { execFile } from "node:child_process"
import { chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, layer } from "@effect/vitest"
import { freePort } from "@reprise/process"
import { startScriptedModel } from "@reprise/scripted-model"
import { Broker, ContainerEngine, hasContainerEngine, localBroker } from "@reprise/testing"
import { Context, Effect, Layer } from "effect"
import { stringify } from "yaml"
import { at, hasKubectl, list, render } from "../deploy/manifests.ts"
import { plan, script } from "../harness/modelScript.ts"
import { waitForCommand, waitUntil } from "../harness/waitUntil.ts"
import { hostBase } from "./cluster/images.ts"
import { filesOfHost, scriptedAgent } from "./cluster/parts.ts"
import { containerNames, hostVolume, playable, type Question, questionsOf, type Surroundings } from "./playable.ts"
import { buildReprise, engineClient, nodeBase, packageFolder } from "./repriseImage.ts"

const run = promisify(execFile)

/** Docker has no such command. */
const hasPodman = await run("podman", ["info"]).then(
  () => true,
  () => false
)
const canPlay = hasPodman && (await Effect.runPromise(hasContainerEngine)) && (await Effect.runPromise(hasKubectl))

/** Through the engine of the tests, which has settings of its own. */
const tryPodman = (...args: ReadonlyArray<string>) =>
  Effect.tryPromise((signal) =>
    run("podman", ["--remote", "--url", process.env["DOCKER_HOST"] ?? "", ...args], { signal })
  )
const podman = (...args: ReadonlyArray<string>) => Effect.map(Effect.orDie(tryPodman(...args)), ({ stdout }) => stdout)

interface PodsShape {
  readonly questions: ReadonlyArray<Question>
  /** The engine's names of the containers, by those in the manifests. */
  readonly nameOf: (container: string) => string
}

class Pods extends Context.Service<Pods, PodsShape>()("test/Pods") {}

/** As `fsGroup` does in a cluster, which podman does not know. */
const giveToNobody = (path: string) => {
  chownSync(path, 65_532, 65_532)
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) giveToNobody(join(path, entry.name))
    else chownSync(join(path, entry.name), 65_532, 65_532)
  }
}

const makeVolume = Effect.fnUntraced(function* (name: string) {
  yield* Effect.acquireRelease(podman("volume", "create", name), () => podman("volume", "rm", "--force", name))
  const [made] = JSON.parse(yield* podman("volume", "inspect", name))
  for (const [path, text] of Object.entries(filesOfHost)) {
    const file = join(made.Mountpoint, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  giveToNobody(made.Mountpoint)
})

const play = Effect.gen(function* () {
  const client = yield* engineClient
  const folder = yield* packageFolder
  const images = {
    service: `localhost/reprise-test-play:${process.pid}`,
    host: `localhost/reprise-test-play-host:${process.pid}`
  }
  yield* buildReprise(client, folder, yield* nodeBase, images.service)
  yield* buildReprise(client, folder, yield* hostBase, images.host)
  const model = yield* startScriptedModel({ script: script() })
  const { url: natsUrl } = yield* Broker
  const manifests = yield* render("local")
  const names = containerNames(manifests)
  const ports = yield* Effect.forEach(names, (name) => Effect.map(freePort, (port) => [name, port] as const))
  const around: Surroundings = {
    suffix: `-test-${process.pid}`,
    images,
    ports: Object.fromEntries(ports),
    secrets: { natsUrl, password: "scripted", models: scriptedAgent(model.openaiUrl) }
  }
  yield* makeVolume(hostVolume(around))
  const scratch = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-play-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  const file = join(scratch, "local.yaml")
  writeFileSync(
    file,
    playable(manifests, around)
      .map((one) => stringify(one))
      .join("---\n")
  )
  // Also what a failed start has left behind.
  yield* Effect.addFinalizer(() => podman("play", "kube", "--down", file))
  yield* podman("play", "kube", file)
  const all = JSON.parse(yield* podman("ps", "--all", "--format", "json"))
  const running = list(all).map((one) => String(list(at(one, "Names"))[0]))
  return Pods.of({
    questions: questionsOf(manifests, around),
    nameOf: (container) =>
      running.find((name) => name.includes(around.suffix) && name.endsWith(`-${container}`)) ??
      assert.fail(`no container is ${container}: ${running.join(", ")}`)
  })
})

const pods = Layer.effect(Pods, play).pipe(Layer.provide([ContainerEngine.layer, NodeServices.layer, localBroker]))

const isOk = (url: string) =>
  Effect.promise(() =>
    fetch(url).then(
      ({ ok }) => (ok ? true : undefined),
      () => undefined
    )
  )

const answers = (container: string, { command = [], url }: Question) =>
  url === undefined
    ? waitForCommand(
        Effect.match(tryPodman("exec", container, ...command), { onFailure: () => undefined, onSuccess: () => true })
      )
    : waitUntil(isOk(url))

/** Fails with the log of a container that has ended: podman starts it again, so nothing else would show it. */
const endsEarly = Effect.fnUntraced(function* (containers: ReadonlyArray<string>) {
  const look = podman("inspect", "--format", "{{.Name}} {{.RestartCount}} {{.State.Status}}", ...containers)
  const hasEnded = (lines: string) => lines.split("\n").find((line) => / ([1-9]\d*|0 exited|0 stopped)/.test(line))
  const found = yield* waitForCommand(Effect.map(look, hasEnded))
  const [container = ""] = found.split(" ")
  const { stderr, stdout } = yield* Effect.orDie(tryPodman("logs", container))
  return yield* Effect.die(new Error(`${container} ended: ${stdout}${stderr}`))
})

/** What the kernel says of the first process of a container. */
const seenByKernel = Effect.fnUntraced(function* (container: string) {
  const pid = (yield* podman("inspect", "--format", "{{.State.Pid}}", container)).trim()
  const fields = new Map(
    readFileSync(`/proc/${pid}/status`, "utf8")
      .split("\n")
      .map((line) => line.split(/:\s*/, 2) as [string, string])
  )
  const root = readFileSync(`/proc/${pid}/mountinfo`, "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .find((words) => words[4] === "/")
  return {
    users: fields.get("Uid"),
    groups: fields.get("Gid"),
    capabilities: ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].map((name) => Number(`0x${fields.get(name)}`)),
    noNewPrivileges: fields.get("NoNewPrivs"),
    root: root?.[5]?.split(",")[0]
  }
})

describe.skipIf(!canPlay)("the overlay 'local'", () => {
  layer(pods, { excludeTestServices: true, timeout: "10 minutes" })((it) => {
    it.effect("brings up every container in its pod, the host's three among them, until each is ready", () =>
      Effect.gen(function* () {
        const { nameOf, questions } = yield* Pods
        assert.sameMembers(
          questions.map(({ name }) => name),
          ["orchestrator", "reviewer", "gate", "session-manager", "workspace", "agent"]
        )
        const allAnswer = Effect.forEach(questions, (question) => answers(nameOf(question.name), question), {
          discard: true
        })
        yield* Effect.raceFirst(allAnswer, endsEarly(questions.map(({ name }) => nameOf(name))))
      })
    )

    it.effect("runs each as uid 65532, on a read-only root, without capabilities and any way to get some", () =>
      Effect.gen(function* () {
        const { nameOf, questions } = yield* Pods
        for (const { name } of questions) {
          const ids = Array.from({ length: 4 }, () => "65532").join("\t")
          assert.deepStrictEqual(
            yield* seenByKernel(nameOf(name)),
            {
              users: ids,
              groups: ids,
              capabilities: [0, 0, 0, 0, 0],
              noNewPrivileges: "1",
              root: "ro"
            },
            name
          )
        }
      })
    )

    it.effect("completes a run with its agent", () =>
      Effect.gen(function* () {
        const { nameOf } = yield* Pods
        const person = (text: string) =>
          podman("exec", "--env", "REPRISE_PERMISSIONS=all", nameOf("workspace"), "sh", "-ec", text)
        yield* person(
          `git init -q --bare -b main /workspace/code.git; git clone -q file:///workspace/code.git person 2> /dev/null; cd person; git checkout -q -b main; printf '%s' '${plan("One")}' > PLAN.md; git add -A; git commit -qm Start; git push -q origin main`
        )
        yield* person(
          "cd person; exec node /opt/reprise/package/bin/reprise.js run PLAN.md --remote origin --no-input 2>&1"
        )
        const log = yield* person("git -C /workspace/code.git log --format=%s reprise/plan")
        assert.include(log, "Write phase-1.txt")
      })
    )
  })
})
