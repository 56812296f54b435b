// @module-tag long
/** An agent over the Agent Client Protocol runs in the sandbox as a whole: with a real bubblewrap and an agent that is a shell. */
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { markedProcesses } from "@reprise/process"
import type { PermissionMode, Role } from "@reprise/protocol"
import { layerSandbox } from "@reprise/sandbox"
import { batches, canary, canSandbox, escapedFrom, type Scene, sceneIn } from "@reprise/sandbox/testing"
import { Context, Effect, Fiber, Layer } from "effect"
import { AgentRuntime, layerAcp } from "../src/index.ts"
import { Places } from "./contract/Places.ts"
import { newIds, recordEvents, waitUntil } from "./contract/World.ts"

const sandboxed = await canSandbox()

const fixture = join(import.meta.dirname, "fixtures", "acpShellAgent.ts")

class TheScene extends Context.Service<TheScene, Scene>()("agent/test/TheScene") {
  static readonly layer = Layer.effect(
    TheScene,
    Places.use(({ root }) => sceneIn(root))
  )
}

const environmentOf = ({ home }: Scene) => ({
  PATH: process.env["PATH"],
  HOME: home,
  CODEX_HOME: join(home, ".codex"),
  CODEX_API_KEY: "of-its-vendor",
  GITHUB_TOKEN: canary,
  AWS_SECRET_ACCESS_KEY: canary
})

/** By its name it is Codex, so that it has the folder and the variables of Codex. */
const commandOf = ({ home }: Scene) => {
  const folder = join(home, "bin")
  const program = join(folder, "codex-acp")
  mkdirSync(folder, { recursive: true })
  mkdirSync(join(home, ".codex"), { recursive: true })
  // What is made in the home folder later, an agent that runs does not see.
  mkdirSync(join(home, "data"), { recursive: true })
  writeFileSync(join(home, ".codex", "config.toml"), "mine\n")
  writeFileSync(join(home, ".codex", "auth.json"), "its login\n")
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${fixture} asks\n`)
  chmodSync(program, 0o755)
  return program
}

interface Given {
  readonly mode: "auto" | "required"
  /** Whether the port of the scene is the agent's own. */
  readonly port?: true
}

const runtime = (given: Given) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const scene = yield* TheScene
      const { home, port, stateDirectory } = scene
      const environment = environmentOf(scene)
      const settings = { write: [], read: [], deny: ["~/secret.txt"], network: ["registry.npmjs.org"] }
      writeFileSync(join(home, "secret.txt"), canary)
      return layerAcp({
        command: commandOf(scene),
        stateDirectory,
        environment,
        allowed: { write: [], network: given.port === true ? [`localhost:${port}`] : [], environment: [] }
      }).pipe(Layer.provide(layerSandbox({ mode: given.mode, gates: true, settings, stateDirectory, environment })))
    })
  )

const world = (given: Given) =>
  runtime(given).pipe(Layer.provideMerge(TheScene.layer.pipe(Layer.provideMerge(Layer.fresh(Places.layer)))))

interface As {
  readonly role?: Role
  readonly permissions?: PermissionMode
}

const create = Effect.fnUntraced(function* ({ permissions = "ask", role = "author" }: As = {}) {
  const { workspace: directory } = yield* TheScene
  return yield* (yield* AgentRuntime).create({ directory, title: "sandbox", permissions, role })
})

const say = Effect.fnUntraced(function* (runtimeSessionId: string, text: string, role: Role = "author") {
  const { workspace: directory } = yield* TheScene
  const runtime = yield* AgentRuntime
  return (yield* runtime.prompt({ runtimeSessionId, directory, promptId: newIds(), text, role })).text
})

const run = Effect.fnUntraced(function* (text: string, as: As = {}) {
  return yield* say(yield* create(as), text, as.role)
})

/** Answers all questions of the session alike while something runs in it. */
const answeringAll = Effect.fnUntraced(function* <E, R>(
  session: string,
  reply: "once" | "reject",
  act: Effect.Effect<string, E, R>
) {
  const { workspace: directory } = yield* TheScene
  const runtime = yield* AgentRuntime
  const asked: Array<string> = []
  const next = waitUntil(
    Effect.map(runtime.pendingPrompts(directory), (all) => all.find(({ sessionId }) => sessionId === session))
  ).pipe(
    Effect.flatMap(({ promptId, text }) => {
      asked.push(text)
      return runtime.reply({ runtimeSessionId: session, promptId, reply: { kind: "permission", reply } })
    })
  )
  const said = yield* Effect.raceFirst(act, Effect.andThen(Effect.forever(next), Effect.never))
  return { said, asked }
})

const started = Effect.flatMap(TheScene, ({ stateDirectory }) => markedProcesses(`REPRISE_ACP_STATE=${stateDirectory}`))

/** Empty where it has ended meanwhile. */
const inProc = (pid: number, name: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8")
  } catch {
    return ""
  }
}

/** The agent alone, not what brings it into the sandbox. */
const agents = Effect.map(started, (all) =>
  all.filter((pid) => {
    const words = inProc(pid, "cmdline").split("\0")
    return words[0] === process.execPath && words[1] === fixture
  })
)

/** Whether all stands still that runs in the sandboxes of the agents, in which a process has one number more. */
const isStill = Effect.map(started, (all) => {
  const statuses = all.map((pid) => inProc(pid, "status"))
  const inside = statuses.filter((status) => /\nNSpid:\t\d+\t\d+/.test(status))
  return inside.length > 0 && inside.every((status) => /\nState:\t[TZ]/.test(status))
})

describe.skipIf(!sandboxed)("an agent over the Agent Client Protocol in the sandbox", () => {
  layer(world({ mode: "auto", port: true }), { excludeTestServices: true, timeout: "15 minutes" })((it) => {
    it.effect("runs its commands without a question", () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* run("echo $REPRISE_SANDBOX"), "1")
      })
    )

    it.effect("writes in its workspace and in its own folder, and nowhere else", () =>
      Effect.gen(function* () {
        const { home, workspace } = yield* TheScene
        const session = yield* create()
        assert.strictEqual(yield* say(session, `echo x > kept && echo y > ${home}/.codex/kept && echo done`), "done")
        assert.isTrue(existsSync(join(workspace, "kept")) && existsSync(join(home, ".codex/kept")))
        assert.match(yield* say(session, `echo x > ${home}/lost`), /read-only file system/i)
        assert.isFalse(existsSync(join(home, "lost")))
      })
    )

    it.effect("reads its own login, and nothing that the settings deny", () =>
      Effect.gen(function* () {
        const { home } = yield* TheScene
        const session = yield* create()
        assert.strictEqual(yield* say(session, `cat ${home}/.codex/auth.json`), "its login")
        assert.notInclude(yield* say(session, `cat ${home}/secret.txt ${home}/.ssh/id_ed25519; env`), canary)
        assert.strictEqual(yield* say(session, "echo $CODEX_API_KEY"), "of-its-vendor")
      })
    )

    it.effect("does not change what it runs when a person starts it outside", () =>
      Effect.gen(function* () {
        const { home } = yield* TheScene
        const session = yield* create()
        assert.match(yield* say(session, `echo evil > ${home}/.codex/config.toml`), /read-only file system/i)
        assert.match(yield* say(session, `rm ${home}/.codex/config.toml || echo kept`), /kept/)
        yield* say(session, `mkdir -p ${home}/.codex/prompts; echo evil > ${home}/.codex/hooks.json`)
        assert.strictEqual(readFileSync(join(home, ".codex/config.toml"), "utf8"), "mine\n")
        assert.isFalse(existsSync(join(home, ".codex/prompts")), "put aside when the turn has ended")
        assert.isFalse(existsSync(join(home, ".codex/hooks.json")))
      })
    )

    it.effect("stops with what its commands left behind a moment after its turn, and goes on with the next one", () =>
      Effect.gen(function* () {
        const { workspace } = yield* TheScene
        const session = yield* create()
        yield* say(session, "(until [ -e kept-go ]; do sleep 0.02; done; touch kept-on) >/dev/null 2>&1 &")
        yield* waitUntil(Effect.map(isStill, (still) => (still ? still : undefined)))
        writeFileSync(join(workspace, "kept-go"), "")
        assert.isTrue(yield* isStill)
        assert.isFalse(existsSync(join(workspace, "kept-on")))
        assert.strictEqual(yield* say(session, "until [ -e kept-on ]; do sleep 0.02; done; echo done"), "done")
      })
    )

    it.effect("leaves no repository that others would obey when it ends while nobody works with it", () =>
      Effect.gen(function* () {
        const { workspace } = yield* TheScene
        yield* run("true")
        const made = join(workspace, "made-at-rest")
        execFileSync("git", ["init", "-q", made])
        execFileSync("git", ["-C", made, "config", "core.fsmonitor", "false"])
        for (const pid of yield* agents) process.kill(pid, "SIGKILL")
        yield* waitUntil(Effect.sync(() => (existsSync(join(made, ".git")) ? undefined : true)))
      })
    )

    it.effect("reaches the port that its settings name, and no name that nobody allowed", () =>
      Effect.gen(function* () {
        const { port } = yield* TheScene
        const session = yield* create({ role: "reviewer" })
        const fetched = (url: string) => say(session, `curl -sS -m 20 ${url}`, "reviewer")
        assert.include(yield* fetched(`http://localhost:${port}/`), canary)
        assert.include(yield* fetched("http://example.org/"), "may not be reached")
        assert.match(yield* fetched("--noproxy '*' http://192.0.2.1/"), /connect|unreachable/i)
      })
    )

    it.effect("asks before an author reaches another name, while the command waits", () =>
      Effect.gen(function* () {
        const session = yield* create()
        const fetching = say(session, "curl -sS -m 60 http://example.org/")
        const { asked, said } = yield* answeringAll(session, "reject", fetching)
        assert.include(said, "may not be reached")
        assert.deepStrictEqual(asked, ["network: example.org"])
      })
    )

    it.effect(
      "asks before an author may write a file elsewhere, until the turn ends, and tells the agent that it may",
      () =>
        Effect.gen(function* () {
          const { home } = yield* TheScene
          const session = yield* create()
          const writing = (name: string) => say(session, `echo x > ${home}/data/${name} && echo written`)
          const first = yield* answeringAll(session, "once", writing("first"))
          assert.deepStrictEqual(first, { said: "written", asked: [`write: ${home}/data/first`] })
          assert.isTrue(existsSync(join(home, "data/first")))
          const second = yield* answeringAll(session, "reject", writing("second"))
          assert.match(second.said, /read-only file system/i)
          assert.deepStrictEqual(second.asked, [`write: ${home}/data/second`])
          assert.isFalse(existsSync(join(home, "data/second")))
        })
    )

    it.effect("asks nobody about what must stay as it is, nor for a reviewer, and tells it once for a turn", () =>
      Effect.gen(function* () {
        const { home } = yield* TheScene
        const seen = yield* recordEvents
        const author = yield* create()
        const path = `${home}/.bashrc`
        const said = yield* answeringAll(author, "once", say(author, `echo x >> ${path}; echo x >> ${path}`))
        assert.deepStrictEqual(said.asked, [])
        const reviewer = yield* create({ role: "reviewer" })
        yield* say(reviewer, `echo x > ${home}/other/new`, "reviewer")
        const refused = seen.flatMap((event) => (event.type === "refused" ? [`${event.sandbox} ${event.text}`] : []))
        assert.deepStrictEqual(refused, [`write write: ${path}`, `write write: ${home}/other/new`])
      })
    )

    it.effect("can be aborted while a question about a file is open", () =>
      Effect.gen(function* () {
        const { home, workspace: directory } = yield* TheScene
        const runtime = yield* AgentRuntime
        const session = yield* create()
        const turn = yield* Effect.forkChild(Effect.flip(say(session, `echo x > ${home}/data/third`)))
        yield* waitUntil(Effect.map(runtime.pendingPrompts(directory), ([first]) => first))
        yield* runtime.abort(session)
        assert.strictEqual((yield* Fiber.join(turn)).kind, "aborted")
        yield* waitUntil(
          Effect.map(runtime.pendingPrompts(directory), ({ length }) => (length === 0 ? true : undefined))
        )
      })
    )

    it.effect("has a process for each role, so that a reviewer reaches no registry", () =>
      Effect.gen(function* () {
        const author = yield* create()
        const reviewer = yield* create({ role: "reviewer" })
        const which = "echo $PPID; cat /proc/self/mountinfo | head -1"
        assert.notStrictEqual(yield* say(author, which), yield* say(reviewer, which, "reviewer"))
        const refused = "curl -sS -m 20 https://registry.npmjs.org/"
        assert.include(yield* say(reviewer, refused, "reviewer"), "403")
        const again = yield* create()
        assert.strictEqual(
          yield* say(author, "readlink /proc/self/ns/mnt"),
          yield* say(again, "readlink /proc/self/ns/mnt")
        )
      })
    )

    it.effect("commits as an author, and as a reviewer only writes files of its workspace", () =>
      Effect.gen(function* () {
        const { workspace } = yield* TheScene
        const commit = "git add -A . && git commit -qm more && echo committed"
        assert.match(yield* run(`echo x > of-author && ${commit}`), /committed$/)
        const session = yield* create({ role: "reviewer" })
        const said = yield* say(session, `echo x > review && git diff --stat HEAD && ${commit}`, "reviewer")
        assert.match(said, /read-only file system/i)
        assert.isTrue(existsSync(join(workspace, "review")))
      })
    )

    it.effect("runs outside where it may do everything, and the sandbox is not required", () =>
      Effect.gen(function* () {
        const { home } = yield* TheScene
        assert.strictEqual(yield* run(`echo x > ${home}/anything && echo done`, { permissions: "all" }), "done")
        assert.isTrue(existsSync(join(home, "anything")))
      })
    )

    it.effect("goes on in its session after it was killed", () =>
      Effect.gen(function* () {
        const { home } = yield* TheScene
        const session = yield* create()
        assert.strictEqual(yield* say(session, "echo first"), "first")
        for (const pid of yield* agents) process.kill(pid, "SIGKILL")
        assert.match(yield* say(session, `echo x > ${home}/lost || echo second`), /second/)
        const history = JSON.stringify(yield* (yield* AgentRuntime).history(session))
        assert.include(history, "echo first")
      })
    )
  })

  layer(world({ mode: "auto" }), { excludeTestServices: true, timeout: "15 minutes" })((it) => {
    it.effect("gets out by none of the ways of the table, and what it leaves behind ends with it", () =>
      Effect.gen(function* () {
        const scene = yield* TheScene
        // Some of the commands end the agent that runs them.
        for (const command of batches(scene)) yield* Effect.ignore(run(command))
        for (const pid of yield* agents) process.kill(pid, "SIGKILL")
        yield* waitUntil(Effect.map(started, (left) => (left.length === 0 ? true : undefined)))
        assert.deepStrictEqual(escapedFrom(scene), [])
      })
    )
  })

  layer(world({ mode: "required" }), { excludeTestServices: true, timeout: "5 minutes" })((it) => {
    it.effect("runs inside also where it may do everything, if the sandbox is required", () =>
      Effect.gen(function* () {
        const { home } = yield* TheScene
        const said = yield* run(`echo x > ${home}/anything`, { permissions: "all" })
        assert.match(said, /read-only file system/i)
        assert.isFalse(existsSync(join(home, "anything")))
      })
    )
  })
})
