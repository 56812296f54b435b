/** deploy/compose.yaml with Docker Compose, as docs/kubernetes.md#one-machine says, but for the images and the model. */
import { type ExecFileException, execFile } from "node:child_process"
import {
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, layer } from "@effect/vitest"
import { locateServer } from "@reprise/nats"
import { startScriptedModel } from "@reprise/scripted-model"
import { ContainerEngine, hasContainerEngine } from "@reprise/testing"
import { Context, Effect, Layer } from "effect"
import { parse } from "yaml"
import { at, list } from "../deploy/manifests.ts"
import { plan, script } from "../harness/modelScript.ts"
import { waitForCommand } from "../harness/waitUntil.ts"
import { hostBase } from "./cluster/images.ts"
import { filesOfHost, scriptedAgent } from "./cluster/parts.ts"
import { relay } from "./relay.ts"
import { buildBase, buildReprise, engineClient, nodeBase, packageFolder } from "./repriseImage.ts"

const run = promisify(execFile)

/** As a plugin of Docker, or by itself. */
const findCompose = async (): Promise<ReadonlyArray<string> | undefined> => {
  for (const words of [["docker", "compose"], ["docker-compose"]]) {
    const [program = "", ...args] = words
    const answers = run(program, [...args, "version"])
    const isThere = await answers.then(
      () => true,
      () => false
    )
    if (isThere) return words
  }
  process.stdout.write("compose tests: skipped, no Docker Compose\n")
  return undefined
}
const composeProgram = await findCompose()
const canCompose = composeProgram !== undefined && (await Effect.runPromise(hasContainerEngine))

const deploy = new URL("../../deploy/", import.meta.url).pathname
const services = ["orchestrator", "reviewer", "gate", "session-manager", "workspace"]

/** The files that a user has after `git clone` and after making the keys, which they give to the user of the containers. */
const deployFolder = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-compose-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  for (const file of ["compose.yaml", "compose.nats.conf", "kubernetes/overlays/nats/accounts.conf"]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    copyFileSync(join(deploy, file), join(folder, file))
  }
  const keys = join(folder, "keys")
  yield* Effect.promise(() => run(process.execPath, [join(deploy, "nats/src/main.ts"), keys]))
  for (const key of readdirSync(keys)) if (key.endsWith(".nk")) chownSync(join(keys, key), 65_532, 65_532)
  return folder
})

const images = Effect.gen(function* () {
  const client = yield* engineClient
  const folder = yield* packageFolder
  const service = `localhost/reprise-test-compose:${process.pid}`
  const host = `localhost/reprise-test-compose-host:${process.pid}`
  yield* buildReprise(client, folder, yield* nodeBase, service)
  yield* buildReprise(client, folder, yield* hostBase, host)
  const nats = yield* buildBase("nats-base", { "/usr/local/bin/nats-server": (yield* locateServer()).path })
  return { REPRISE_IMAGE: service, REPRISE_HOST_IMAGE: host, NATS_IMAGE: nats }
})

/** The address of this machine in the network of the project. */
const gatewayOf = Effect.fnUntraced(function* (project: string) {
  const { container } = yield* engineClient
  const network = yield* Effect.promise(() => container.dockerode.getNetwork(`${project}_default`).inspect())
  return String(at(list(at(network, "IPAM", "Config"))[0], "Gateway"))
})

type Run = (words: ReadonlyArray<string>, input?: string) => Effect.Effect<string, ExecFileException>

interface ProjectShape {
  readonly compose: Run
  readonly inWorkspace: (script: string) => Effect.Effect<string>
  /** `reprise` as the documents have a person call it, whose key comes from outside. */
  readonly asPerson: (...words: ReadonlyArray<string>) => Effect.Effect<string>
  /**
   * Asks each container what its own health check asks. Compose does so only where the engine has timers: on podman without
   * systemd `up --wait` would wait forever.
   */
  readonly untilReady: Effect.Effect<void>
}

class Project extends Context.Service<Project, ProjectShape>()("test/ComposeProject") {}

const composeIn = Effect.fnUntraced(function* (folder: string, project: string) {
  const { env } = yield* ContainerEngine
  const [program = "", ...plugin] = composeProgram ?? []
  const args = [...plugin, "--project-name", project, "--file", join(folder, "compose.yaml")]
  const environment = { ...process.env, ...env, ...(yield* images), OPENCODE_SERVER_PASSWORD: "scripted" }
  const compose: Run = (words, input = "") =>
    Effect.callback((resume) => {
      const child = execFile(program, [...args, ...words], { env: environment }, (error, stdout, stderr) =>
        resume(error === null ? Effect.succeed(stdout) : Effect.fail(Object.assign(error, { stdout, stderr })))
      )
      child.stdin?.end(input)
      return Effect.sync(() => child.kill())
    })
  return compose
})

const make = Effect.gen(function* () {
  const folder = yield* deployFolder
  const project = `reprise-test-${process.pid}`
  const compose = yield* composeIn(folder, project)
  yield* Effect.addFinalizer(() => Effect.orDie(compose(["down", "--volumes", "--timeout", "10"])))
  const exec = (...words: ReadonlyArray<string>) => ["exec", "--no-TTY", ...words]
  const inWorkspace = (text: string) => Effect.orDie(compose(exec("workspace", "sh", "-ec", text)))
  const key = readFileSync(join(folder, "keys/person.nk"), "utf8")
  const asPerson = (...words: ReadonlyArray<string>) =>
    Effect.orDie(
      compose(
        exec(
          ...["--env", "REPRISE_NATS_NKEY_SEED_FILE=/dev/stdin", "--env", "REPRISE_PERMISSIONS=all"],
          ...["--workdir", "/workspace/my-repository", "workspace", "node", "/opt/reprise/package/bin/reprise.js"],
          ...words
        ),
        key
      )
    )

  const file: unknown = parse(readFileSync(join(folder, "compose.yaml"), "utf8"), { merge: true })
  const isReady = (name: string) => {
    const [, ...question] = list(at(file, "services", name, "healthcheck", "test")).map(String)
    const asked = compose(exec(name, ...question))
    return Effect.match(asked, { onFailure: () => undefined, onSuccess: () => true })
  }
  const untilReady = Effect.forEach([...services, "agent"], (name) => waitForCommand(isReady(name)), { discard: true })

  // The agent's OpenCode is to do without the network: it is told of its model, and finds the files that it needs.
  yield* Effect.orDie(compose(["up", "--detach", "workspace"]))
  for (const [path, text] of Object.entries(filesOfHost)) {
    yield* inWorkspace(`mkdir -p "$(dirname '${path}')"; printf '%s' '${text}' > '${path}'`)
  }
  const model = yield* startScriptedModel({ script: script() })
  const { port } = yield* relay(model.port)
  const models = Object.entries(scriptedAgent(`http://${yield* gatewayOf(project)}:${port}/v1`))
  writeFileSync(join(folder, "models.env"), models.map(([name, value]) => `${name}=${value}\n`).join(""))
  yield* Effect.orDie(compose(["up", "--detach"]))
  return Project.of({ compose, inWorkspace, asPerson, untilReady })
})

const project = Layer.effect(Project, make).pipe(Layer.provide([ContainerEngine.layer, NodeServices.layer]))

describe.skipIf(!canCompose)("deploy/compose.yaml", () => {
  layer(project, { excludeTestServices: true, timeout: "10 minutes" })((it) => {
    it.effect("brings up the services and the agent until each is ready", () =>
      Effect.flatMap(Project, ({ untilReady }) => untilReady)
    )

    it.effect("runs a plan for a person, whose key is in no container", () =>
      Effect.gen(function* () {
        const { asPerson, inWorkspace } = yield* Project
        yield* inWorkspace(
          `git init -q -b main code; cd code; printf '%s' '${plan("One")}' > PLAN.md; git add -A; git commit -qm Start`
        )
        yield* inWorkspace("git clone -q file:///workspace/code my-repository")
        assert.include(yield* asPerson("run", "PLAN.md", "--no-input"), "completed")
        assert.include(yield* inWorkspace("git -C my-repository log --format=%s"), "Write phase-1.txt")
      })
    )

    it.effect("has the run still after everything was killed and started again", () =>
      Effect.gen(function* () {
        const { asPerson, compose, untilReady } = yield* Project
        yield* compose(["kill"])
        // A container of this base that is started again finds a /tmp that only root may write.
        yield* compose(["rm", "--force"])
        yield* compose(["up", "--detach"])
        yield* untilReady
        const { data } = JSON.parse(yield* asPerson("status", "--json"))
        assert.deepStrictEqual(
          list(data).map((one) => at(one, "status")),
          ["completed"]
        )
      })
    )
  })
})
