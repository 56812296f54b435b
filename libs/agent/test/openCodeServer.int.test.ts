// @module-tag long
/** The life of the server: with its owner, after its owner, and without either. */
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { markedProcesses } from "@reprise/process"
import { Context, Effect, Exit, Fiber, Layer, Option, Redacted, Scope } from "effect"
import {
  AgentRuntime,
  layerOpenCode,
  OpenCodeNotPermitted,
  type OpenCodeOptions,
  OpenCodeServer
} from "../src/index.ts"
import { locateOpenCode } from "../src/opencode/server/locateOpenCode.ts"
import { markOf } from "../src/opencode/server/startServer.ts"
import { defaultRestarts } from "../src/restarts.ts"
import { openCodeEnvironment } from "./contract/openCodeWorld.ts"
import { Places } from "./contract/Places.ts"
import { waitUntil } from "./contract/World.ts"

const nowhere = "http://127.0.0.1:9/v1"

const optionsAt = Effect.gen(function* () {
  const { root, stateDirectory } = yield* Places
  mkdirSync(join(root, "home"), { recursive: true })
  return { stateDirectory, environment: openCodeEnvironment(root, nowhere) }
})

const serverWith = (options: OpenCodeOptions) =>
  Effect.map(Layer.build(OpenCodeServer.layer(options)), (context) => context)

/** Everything that runs with a state directory's mark, once there are none. */
const untilNoneMarked = (stateDirectory: string) =>
  Effect.flatMap(markOf(stateDirectory), (mark) =>
    waitUntil(Effect.map(markedProcesses(mark), (pids) => (pids.length === 0 ? true : undefined)))
  )

/** Another process that owns a server, as `reprise run` would. */
const startOwner = Effect.fnUntraced(function* () {
  const { root, stateDirectory } = yield* Places
  const owner = spawn(process.execPath, [join(import.meta.dirname, "ownServer.ts"), stateDirectory, root], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => owner.kill("SIGKILL")))
  const line = yield* Effect.callback<string>((resume) => {
    owner.stdout.once("data", (data: Buffer) => resume(Effect.succeed(data.toString().trim())))
  })
  return { owner, serverPid: Number(line) }
})

const parentOf = (pid: number) => Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[1])

describe("OpenCodeServer", () => {
  it.live("starts with the first call, keeps its password out of sight, and stops with its scope", () =>
    Effect.gen(function* () {
      const options = yield* optionsAt
      const file = join(options.stateDirectory, "opencode.json")
      const scope = yield* Scope.make()
      const context = yield* Scope.provide(serverWith(options), scope)
      const pid = yield* Effect.gen(function* () {
        const server = yield* OpenCodeServer
        assert.isFalse(yield* server.isRunning)
        const { password } = yield* server.connection
        assert.isTrue(yield* server.isRunning)
        assert.strictEqual(statSync(file).mode & 0o077, 0)
        const found = yield* OpenCodeServer.find(options.stateDirectory)
        assert.strictEqual(Option.isSome(found) && Redacted.value(found.value.password), Redacted.value(password))
        const running = Option.getOrThrow(yield* server.pid)
        assert.notInclude(readFileSync(`/proc/${running}/cmdline`, "utf8"), Redacted.value(password))
        assert.notInclude(
          readFileSync(join(options.stateDirectory, "logs", "opencode.log"), "utf8"),
          Redacted.value(password)
        )
        return running
      }).pipe(Effect.provideContext(context))
      yield* Scope.close(scope, Exit.void)
      assert.isFalse(existsSync(`/proc/${pid}`))
      assert.isFalse(existsSync(file))
      assert.isFalse(existsSync(join(options.stateDirectory, "opencode-unpacked")))
    }).pipe(Effect.scoped, Effect.provide(Places.layer))
  )

  it.live("is launched before it answers, and waits for no launch that cannot be", () =>
    Effect.gen(function* () {
      const options = yield* optionsAt
      const server = Context.get(yield* serverWith(options), OpenCodeServer)
      assert.isFalse(yield* server.isAlive, "nobody has asked for it yet")
      const starting = yield* Effect.forkScoped(server.connection)
      yield* server.launched
      assert.isFalse(yield* server.isRunning, "it does not answer yet")
      assert.isTrue(yield* server.isAlive, "it is being started")
      assert.notStrictEqual((yield* markedProcesses(yield* markOf(options.stateDirectory))).length, 0)
      yield* Fiber.join(starting)

      const stateDirectory = join(options.stateDirectory, "other")
      const broken = yield* serverWith({ ...options, stateDirectory, command: "/bin/false" })
      const notStarted = Context.get(broken, OpenCodeServer)
      yield* Effect.forkScoped(Effect.ignore(notStarted.connection))
      yield* notStarted.launched
      const denied = yield* serverWith({
        ...options,
        stateDirectory: join(options.stateDirectory, "denied"),
        permit: new OpenCodeNotPermitted({ detail: "not trusted" })
      })
      const never = Context.get(denied, OpenCodeServer)
      yield* Effect.forkScoped(Effect.ignore(never.connection))
      yield* never.launched
      assert.isFalse(existsSync(join(options.stateDirectory, "denied", "logs")))
    }).pipe(Effect.scoped, Effect.provide(Places.layer))
  )

  it.live(
    "takes another port, and says nothing to whoever listens there, when somebody else takes the chosen one first",
    () =>
      Effect.gen(function* () {
        const options = yield* optionsAt
        const { root } = yield* Places
        // Stands for OpenCode: at its first start another process has just taken the port; then it is OpenCode itself.
        const holder = `const { appendFileSync, writeFileSync } = require("fs")
const [, port, pidFile, heard] = process.argv
require("http").createServer((request, response) => {
  appendFileSync(heard, request.method + request.url + JSON.stringify(request.headers))
  response.end(JSON.stringify({ healthy: true, version: "1.0.0" }))
}).listen(port, "127.0.0.1", () => writeFileSync(pidFile, "" + process.pid))`
        const pidFile = join(root, "holder")
        const heard = join(root, "heard")
        const command = join(root, "late-opencode")
        const real = yield* locateOpenCode(options.environment)
        writeFileSync(
          command,
          `#!/bin/sh
if [ ! -e '${pidFile}' ]; then
  env -i '${process.execPath}' -e '${holder}' "$5" '${pidFile}' '${heard}' </dev/null >/dev/null 2>&1 &
  while [ ! -s '${pidFile}' ]; do sleep 0.02; done
fi
exec '${real}' "$@"
`,
          { mode: 0o755 }
        )
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => process.kill(Number(readFileSync(pidFile, "utf8")), "SIGKILL"))
        )
        const context = yield* serverWith({ ...options, command })
        const { connection } = yield* Effect.provideContext(OpenCodeServer, context)
        const { url } = yield* connection
        const log = readFileSync(join(options.stateDirectory, "logs", "opencode.log"), "utf8")
        assert.isFalse(existsSync(heard), "nobody else was told the password")
        assert.include(log, "ServeError", "the first one found its port taken")
        assert.include(log, url)
      }).pipe(Effect.scoped, Effect.provide(Places.layer))
  )

  /** An OpenCode that is killed at each of its first starts; `starts` has a line for each start. */
  const killedAtStart = Effect.fnUntraced(function* (times: number) {
    const options = yield* optionsAt
    const { root } = yield* Places
    const starts = join(root, "starts")
    const command = join(root, "killed-opencode")
    const real = yield* locateOpenCode(options.environment)
    writeFileSync(
      command,
      `#!/bin/sh\necho start >> '${starts}'\n[ $(wc -l < '${starts}') -gt ${times} ] || kill -KILL $$\nexec '${real}' "$@"\n`,
      { mode: 0o755 }
    )
    const restarts = { ...defaultRestarts, firstPauseMs: 1, longestPauseMs: 10 }
    return {
      options: { ...options, command, restarts },
      starts: () => readFileSync(starts, "utf8").split("\n").length - 1
    }
  })

  it.live("starts again when it is killed before it answers, twenty times in a row", () =>
    Effect.gen(function* () {
      const { options, starts } = yield* killedAtStart(20)
      const { connection, isRunning } = Context.get(yield* serverWith(options), OpenCodeServer)
      yield* connection
      assert.isTrue(yield* isRunning)
      assert.strictEqual(starts(), 21)
    }).pipe(Effect.scoped, Effect.provide(Places.layer))
  )

  it.live(
    "says how often it was killed, by what, and where its log is, when it is given up, and starts with the next call",
    () =>
      Effect.gen(function* () {
        const { options, starts } = yield* killedAtStart(4)
        const restarts = { ...options.restarts, mostEnds: 3 }
        const { connection, isAlive } = Context.get(yield* serverWith({ ...options, restarts }), OpenCodeServer)
        const error = yield* Effect.flip(connection)
        assert.strictEqual(error._tag, "OpenCodeGaveUp")
        assert.match(
          error.message,
          /OpenCode ended 4 times within 1 s .*did not answer yet, and it was killed \(SIGKILL\)/
        )
        assert.include(error.message, join(options.stateDirectory, "logs", "opencode.log"))
        assert.isFalse(yield* isAlive)
        yield* connection
        assert.strictEqual(starts(), 5)
      }).pipe(Effect.scoped, Effect.provide(Places.layer))
  )

  it.live("stops when its owner is killed", () =>
    Effect.gen(function* () {
      const { stateDirectory } = yield* Places
      const { owner, serverPid } = yield* startOwner()
      assert.isTrue(existsSync(`/proc/${serverPid}`))
      owner.kill("SIGKILL")
      yield* untilNoneMarked(stateDirectory)
    }).pipe(Effect.scoped, Effect.provide(Places.layer))
  )

  it.live("is refused while another live process owns the directory", () =>
    Effect.gen(function* () {
      const { owner } = yield* startOwner()
      const error = yield* Effect.flip(serverWith(yield* optionsAt))
      assert.strictEqual(error._tag, "OpenCodeInUse")
      assert.include(error.message, String(owner.pid))
    }).pipe(Effect.scoped, Effect.provide(Places.layer))
  )

  it.live("ends and removes what the last owner left over when owner, guard and server were killed at once", () =>
    Effect.gen(function* () {
      const options = yield* optionsAt
      const { owner, serverPid } = yield* startOwner()
      const mark = yield* markOf(options.stateDirectory)
      const unpacked = join(options.stateDirectory, "opencode-unpacked", "library.so")
      writeFileSync(unpacked, "unpacked by the killed server")
      // A tool's shell: a session of its own, with the server's environment.
      const [name = "", value = ""] = mark.split("=")
      const tool = spawn("sleep", ["3600"], { detached: true, stdio: "ignore", env: { [name]: value } })
      const guard = parentOf(serverPid)
      process.kill(guard, "SIGKILL")
      owner.kill("SIGKILL")
      yield* waitUntil(Effect.sync(() => owner.signalCode ?? undefined))
      process.kill(serverPid, "SIGKILL")
      const context = yield* serverWith(options)
      const { connection, pid } = yield* Effect.provideContext(OpenCodeServer, context)
      yield* connection
      const left = (yield* markedProcesses(mark)).filter((it) => it !== Option.getOrUndefined(Effect.runSync(pid)))
      assert.notInclude(left, tool.pid)
      assert.notInclude(left, serverPid)
      assert.isFalse(existsSync(unpacked))
    }).pipe(Effect.scoped, Effect.provide(Places.layer))
  )

  it.live("is restarted when it stops answering", () =>
    Effect.gen(function* () {
      const options = yield* optionsAt
      const context = yield* serverWith({ ...options, unresponsiveMs: 10_000 })
      const server = yield* Effect.provideContext(OpenCodeServer, context)
      const before = yield* server.connection
      assert.isTrue(yield* server.isAlive)
      process.kill(Option.getOrThrow(yield* server.pid), "SIGSTOP")
      assert.isFalse(yield* server.isAlive)
      const after = yield* waitUntil(
        Effect.map(server.connection, (connection) => (connection.url === before.url ? undefined : connection))
      )
      assert.notStrictEqual(Redacted.value(after.password), Redacted.value(before.password))
    }).pipe(Effect.scoped, Effect.provide(Places.layer))
  )

  it.live("says what to do when OpenCode is not installed", () =>
    Effect.gen(function* () {
      const options = yield* optionsAt
      const environment = { ...options.environment, REPRISE_OPENCODE: "/no/such/opencode" }
      const runtime = yield* Effect.provideContext(
        AgentRuntime,
        yield* Layer.build(layerOpenCode().pipe(Layer.provide(OpenCodeServer.layer({ ...options, environment }))))
      )
      const error = yield* Effect.flip(runtime.create({ directory: "/", title: "none", permissions: "ask" }))
      assert.strictEqual(error.kind, "gone")
      assert.include(error.message, "npm i -g opencode-ai")
      assert.include(error.message, "/no/such/opencode")
    }).pipe(Effect.scoped, Effect.provide(Places.layer))
  )

  it.live("shows the last output of an OpenCode that does not start", () =>
    Effect.gen(function* () {
      const options = yield* optionsAt
      const { root } = yield* Places
      const command = join(root, "opencode")
      writeFileSync(command, "#!/bin/sh\necho 'the configuration is broken' >&2\nexit 3\n", { mode: 0o755 })
      const server = yield* Effect.provideContext(OpenCodeServer, yield* serverWith({ ...options, command }))
      const error = yield* Effect.flip(server.connection)
      assert.strictEqual(error._tag, "OpenCodeDidNotStart")
      assert.include(error.message, "the configuration is broken")
      assert.include(error.message, "it ended with 3")
    }).pipe(Effect.scoped, Effect.provide(Places.layer))
  )

  it.live("counts as gone after the grace, and its sessions are kept", () =>
    Effect.gen(function* () {
      const connected = OpenCodeServer.layerConnect({ url: "http://127.0.0.1:9", password: Redacted.make("none") })
      const runtime = yield* Effect.provideContext(
        AgentRuntime,
        yield* Layer.build(layerOpenCode({ runtimeGraceMs: 300 }).pipe(Layer.provide(connected)))
      )
      const error = yield* Effect.flip(runtime.inspect("ses_e040cd4ffffeZFj16KaMq7XRPk"))
      assert.strictEqual(error.kind, "gone")
      assert.isTrue(error.sessionUsable)
    }).pipe(Effect.scoped, Effect.provide(Places.layer))
  )
})
